// __torch_function__: calls that objects of other classes among the arguments answer themselves. Nothing here runs for exact tensors
// as long as no class of tensors and no mode asks for it.
#pragma once
#include "module.h"

namespace adjoint::python {

// Whether a mode of this thread, or an object among the arguments or in a list of them, answers the call.
bool is_answered(PyObject* const* args, size_t count, PyObject* names);
// What they answer to f(*args, **names): a new reference, or null with an error.
PyObject* answer(PyObject* f, PyObject* const* args, size_t count, PyObject* names);

bool answers_below(PyTypeObject* t);   // a class with __torch_dispatch__ of its own

// x[key], or x[key] = value, where the key or the value answers: a new reference, or null without an error: nobody does.
PyObject* answer_item(const char* method, PyObject* x, PyObject* key, PyObject* value = nullptr);
bool may_be_answered();   // by a tensor: a class of tensors takes part, or a mode does

// The same of an operator whose second operand is nothing that converts; NotImplemented if nobody answers.
PyObject* answer_operator(const char* method, PyObject* a, PyObject* b);

void bind_protocol(nb::module_& m, void (*arm)());   // `arm` lets every function ask from now on

}  // namespace adjoint::python
