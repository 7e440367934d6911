// Which GPU a call from Python means.
#pragma once
#include "module.h"

namespace adjoint::python {

// An index, a device, or None for the current one.
int index_of(nb::handle which, const char* op);

}  // namespace adjoint::python
