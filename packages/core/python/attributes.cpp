// The plain attributes of Tensor: layout and memory. Values of one-element tensors and storage details are in memory.cpp.
#include <adjoint/core/inference.h>
#include <adjoint/core/ops.h>

#include "convert.h"
#include "tensor_type.h"
#include "value_types.h"
#include "warn.h"

namespace adjoint::python {

namespace {

template <PyObject* (*f)(TensorImpl&)> PyObject* get(PyObject* self, void*) {
  return guarded([=] { return f(*impl_of(self)); });
}
template <Tensor (*f)(const Tensor&)> PyObject* view(PyObject* self, void*) {
  return guarded([=] { return wrap_tensor(f(unwrap(self))); });
}

// Assigning writes into the view.
template <Tensor (*f)(const Tensor&)> int assign(PyObject* self, PyObject* value, void*) {
  const PyObject* done = guarded([=]() -> PyObject* {
    Tensor y;
    expect(value && as_operand(value, y), ErrorKind::type, "real and imag can be assigned tensors and numbers");
    copy_(f(unwrap(self)), y);
    return self;
  });
  return done ? 0 : -1;
}

PyObject* shape(TensorImpl& t) { return size_object(t.sizes); }
PyObject* dtype(TensorImpl& t) { return Py_NewRef(api->dtypes[static_cast<int>(t.dtype)]); }
PyObject* device(TensorImpl& t) { return device_object(t.device); }
PyObject* ndim(TensorImpl& t) { return PyLong_FromLong(t.ndim()); }
PyObject* item_bytes(TensorImpl& t) { return PyLong_FromLongLong(itemsize(t.dtype)); }
PyObject* bytes(TensorImpl& t) { return PyLong_FromLongLong(itemsize(t.dtype) * t.numel); }
PyObject* version(TensorImpl& t) {
  const TensorImpl* m = t.keys & key_lifted && engine_hooks.memory ? engine_hooks.memory(t) : &t;
  expect(m && m->storage, "_version: a tensor inside a transform has no memory of its own");
  expect(!is_inference(*m), "Inference tensors do not track version counter.");
  return PyLong_FromUnsignedLong(m->storage->version);
}

Tensor reversed(const Tensor& x) {
  if (x.dim() == 0) warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.");
  if (x.dim() == 1 || x.dim() > 2) {
    warn_once("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future release. "
              "Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.");
  }
  Dims order(x.dim(), 0);
  for (int i = 0; i < x.dim(); i++) order[i] = x.dim() - 1 - i;
  return permute(x, order);
}
Tensor transposed_conjugate(const Tensor& x) {
  expect(x.dim() == 2 || x.dim() == 0, "tensor.H is only supported on matrices (2-D tensors). Got ", x.dim(), "-D tensor.", x.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  if (x.dim() == 0) warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().");
  const Tensor t = x.dim() == 2 ? transpose(x, 0, 1) : x;
  return is_complex(t.dtype()) ? conj(t) : t;
}
Tensor transposed_last(const Tensor& x) {
  if (x.dim()) return mT(x);
  warn_once("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.");
  return alias(x);
}
Tensor transposed_conjugates(const Tensor& x) { return adjoint_of(x, "Tensor.mH"); }
Tensor imaginary(const Tensor& x) {
  expect(is_complex(x.dtype()), "imag is not implemented for tensors with non-complex dtypes.");
  return imag(x);
}

}  // namespace

Tensor adjoint_of(const Tensor& x, const char* name) {
  if (x.dim() == 0) warn_once((std::string(name) + " is deprecated on 0-D tensors. Consider using x.conj().").c_str());
  const Tensor t = x.dim() ? mT(x) : alias(x);
  return is_complex(t.dtype()) ? conj(t) : t;
}

PyGetSetDef* tensor_getset() {
  static PyGetSetDef table[] = {
      {"shape", get<shape>, nullptr, "The size of each dimension.", nullptr},
      {"dtype", get<dtype>, nullptr, "The element type.", nullptr},
      {"device", get<device>, nullptr, "Where the memory lives.", nullptr},
      {"ndim", get<ndim>, nullptr, "The number of dimensions.", nullptr},
      {"itemsize", get<item_bytes>, nullptr, "Bytes of one element.", nullptr},
      {"nbytes", get<bytes>, nullptr, "Bytes of all elements.", nullptr},
      {"_version", get<version>, nullptr, "How often the memory was written in place.", nullptr},
      {"T", view<reversed>, nullptr, "All dimensions reversed.", nullptr},
      {"mT", view<transposed_last>, nullptr, "The last two dimensions swapped.", nullptr},
      {"H", view<transposed_conjugate>, nullptr, "The conjugate transpose of a matrix.", nullptr},
      {"mH", view<transposed_conjugates>, nullptr, "The conjugate transpose of the last two dimensions.", nullptr},
      {"real", view<real>, assign<real>, "The real part.", nullptr},
      {"imag", view<imaginary>, assign<imaginary>, "The imaginary part.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  return table;
}

}  // namespace adjoint::python
