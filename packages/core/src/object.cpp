// Definitions that need a home in the library: the root class and the Python hooks.
#include <adjoint/core/object.h>

namespace adjoint {

PythonHooks python_hooks;
Object::~Object() = default;
void Object::destroy() { delete this; }

}  // namespace adjoint
