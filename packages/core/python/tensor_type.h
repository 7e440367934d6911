// The Python type adjoint.Tensor: a raw heap type, because every op makes one.
#pragma once
#include <adjoint/python/api.h>

#include <nanobind/nanobind.h>

namespace adjoint::python {

PyTypeObject* make_tensor_type();                                 // with slots of number.cpp and index.cpp
PyObject* wrap_tensor(Tensor x);
PyObject* wrap_as(PyTypeObject* type, Tensor x);                  // x must not have a Python object yet
void track_tensor(TensorImpl& x);
void install_hooks();

std::span<const PyType_Slot> number_slots();                      // number.cpp
PyObject* tensor_getitem(PyObject* self, PyObject* key);          // index.cpp
int tensor_setitem(PyObject* self, PyObject* key, PyObject* value);
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);  // create.cpp
Tensor adjoint_of(const Tensor& x, const char* name);   // attributes.cpp
PyGetSetDef* tensor_getset();                                     // attributes.cpp
void raise() noexcept;                                            // error.cpp

// f() with C++ exceptions turned into Python's.
template <class F> PyObject* guarded(F&& f) noexcept {
  try { return f(); }
  catch (...) { raise(); return nullptr; }
}

}  // namespace adjoint::python
