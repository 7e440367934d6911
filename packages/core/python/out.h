// `out=`, for all functions of the module.
#pragma once
#include "module.h"
#include "tensor_type.h"

namespace adjoint::python {

using Vectorcall = PyObject* (*)(PyObject* callable, PyObject* const* args, size_t count, PyObject* names);

bool put_plainly(PyObject* result, PyObject* out);   // of the same type and shape, without history; false: not done
// What out= does with a result, or a tuple of results. Of what is made of nothing but numbers `out` takes the size without a warning.
nb::object put_result(const std::string& name, nb::object result, nb::handle out, bool made = false);
bool computes_as_out(const std::string& name);   // in the type of `out`, where no other is asked for
Py_ssize_t find_out(PyObject* names);   // where `out` stands among the names of keyword arguments; -1
PyObject* call_with_out(Vectorcall call, PyObject* f, PyObject* const* args, size_t count, PyObject* names, Py_ssize_t at);

}  // namespace adjoint::python
