// Definitions that need a home in the library: the root class and the Python hooks.
#include <adjoint/core/object.h>

#include <vector>

namespace adjoint {

PythonHooks python_hooks;
Object::~Object() = default;
void Object::destroy() { delete this; }

void Object::destroy_in_turn() {
  static thread_local std::vector<Object*>* waiting = nullptr;
  if (waiting) return waiting->push_back(this);
  std::vector<Object*> queue;
  waiting = &queue;
  delete this;
  while (!queue.empty()) {
    Object* o = queue.back();
    queue.pop_back();
    delete o;
  }
  waiting = nullptr;
}

}  // namespace adjoint
