// Python values to C++ values.
#pragma once
#include <adjoint/python/api.h>

#include <optional>
#include <string>

namespace adjoint::python {

// Where tensors are made if nothing else is said, on this thread: `with device:`, set_default_device.
Device default_device() noexcept;

bool to_scalar(PyObject* o, Scalar& out);          // false without an error: not a number; with: overflow
bool to_dims(PyObject* o, Dims& out);              // an int or a sequence of ints
bool to_dtype(PyObject* o, DType& out) noexcept;
bool numpy_dtype(PyObject* o, DType& out) noexcept;
bool to_device(PyObject* o, Device& out) noexcept;
bool is_numpy_array(PyObject* o) noexcept;
bool is_sequence(PyObject* o) noexcept;            // a list or a tuple
// Of one: what it holds, whatever the __len__ of a subclass says.
inline Py_ssize_t sequence_size(PyObject* o) { return PyTuple_Check(o) ? PyTuple_Size(o) : PyList_Size(o); }
std::string type_name(PyObject* o);               // "int", for messages
PyObject* size_object(const Dims& sizes);
PyObject* scalar_object(const Scalar& value);

// Nested sequences, numbers, arrays and buffers to a fresh tensor (tensor(data)); throws.
Tensor tensor_from(PyObject* data, std::optional<DType> dtype, const char* op);
Tensor from_numpy(PyObject* array, bool shares = true);   // in its memory; what is copied at once shares none
std::optional<Tensor> lent_memory(PyObject* data, DType dtype);   // of an object that has a buffer, and is no array: its bytes as elements
bool as_operand(PyObject* o, Tensor& out);         // tensor, number or NumPy array

Scalar read_item(const Tensor& x);                 // its one element, for Python: observers see it
bool is_nonzero(const Tensor& x);

}  // namespace adjoint::python
