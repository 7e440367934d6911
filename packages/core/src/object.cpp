// Definitions that need a home in the library: the root class and the Python hooks.
#include <adjoint/core/object.h>

namespace adjoint {

PythonHooks python_hooks;
Object::~Object() = default;
void Object::destroy() { delete this; }

void Object::destroy_in_turn() {
  // The state word counts nothing any more: it links those that wait.
  static thread_local bool busy = false;
  static thread_local Object* waiting = nullptr;
  if (busy) {
    state_.store(reinterpret_cast<uintptr_t>(std::exchange(waiting, this)), std::memory_order_relaxed);
    return;
  }
  busy = true;
  delete this;
  while (Object* o = waiting) {
    waiting = reinterpret_cast<Object*>(o->state_.load(std::memory_order_relaxed));
    delete o;
  }
  busy = false;
}

}  // namespace adjoint
