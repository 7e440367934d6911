// `out=`, for all functions of the module.
#pragma once
#include "module.h"
#include "tensor_type.h"

namespace adjoint::python {

using Vectorcall = PyObject* (*)(PyObject* callable, PyObject* const* args, size_t count, PyObject* names);

bool put_plainly(PyObject* result, PyObject* out);   // of the same type and shape, without history; false: not done
nb::object put_result(const std::string& name, nb::object result, nb::handle out);   // what out= does with a result, or a tuple of results
Py_ssize_t find_out(PyObject* names);   // where `out` stands among the names of keyword arguments; -1
PyObject* call_with_out(Vectorcall call, PyObject* f, PyObject* const* args, size_t count, PyObject* names, Py_ssize_t at);

}  // namespace adjoint::python
