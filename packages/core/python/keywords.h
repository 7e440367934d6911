// Other names of keyword arguments, for all functions of the module: `axis` of NumPy for `dim`, and what a factory may be told.
#pragma once
#include "out.h"

namespace adjoint::python {

// call(f, ...), and where the arguments do not fit once more with PyTorch's own names for them.
PyObject* call_with_names(Vectorcall call, PyObject* f, PyObject* const* args, size_t count, PyObject* names);

bool makes_tensors(PyObject* f);   // whether f is a factory: it takes requires_grad

}  // namespace adjoint::python
