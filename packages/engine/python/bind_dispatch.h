// __torch_dispatch__ for Python.
#pragma once
#include "node_type.h"

namespace adjoint::engine::python {

void bind_dispatch(nb::module_& m);

}  // namespace adjoint::engine::python
