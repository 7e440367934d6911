// What adjoint_core._core offers to other binding modules, found through a capsule: Python modules do not link to each other.
#pragma once
#include <Python.h>

#include <adjoint/core/ops.h>

namespace adjoint::python {

// The instance of adjoint.Tensor. The C++ object is separate and owned by this one.
struct TensorObject {
  PyObject_HEAD
  PyObject* dict;
  PyObject* weakrefs;
  TensorImpl* impl;
};

struct Api {
  PyTypeObject* tensor_type;
  PyObject* dtypes[dtype_count];                      // adjoint.float32, ...
  PyObject* shape_error;                              // both RuntimeError and ValueError
  PyObject* index_error;                              // both RuntimeError and IndexError
  PyObject* memory_error;                             // both RuntimeError and MemoryError
  PyObject* linalg_error;                             // a RuntimeError
  PyTypeObject* size_type;                            // adjoint.Size
  PyObject* (*wrap)(Tensor x);                        // a new reference; an empty tensor becomes None
  void (*track)(TensorImpl& x);                       // from now on the collector sees it
  bool (*attached)() noexcept;                        // does this thread hold the interpreter?
  bool (*dtype)(PyObject* o, DType& out) noexcept;    // also accepts float, int, bool, complex and NumPy's; no error set
  bool (*scalar)(PyObject* o, Scalar& out);           // a number (NumPy's included); false: something else, no error set
  bool (*dims)(PyObject* o, Dims& out);               // an int or a sequence of ints; false: something else, no error set
  bool (*device)(PyObject* o, Device& out) noexcept;
  PyObject* (*device_object)(Device device);
  PyObject* (*size)(const Dims& sizes);
  bool (*answered)(PyObject* const* args, size_t count);   // whether a mode, or an object among these or in lists of them, answers a call
  void (*raise)() noexcept;                           // turns the C++ exception in flight into a Python one
};
constexpr const char* misfit = "an argument has a type that does not fit";   // of a cast deep in a function
constexpr const char* api_capsule = "adjoint_core._core._api";

// One per module: set at the module's start.
inline const Api* api = nullptr;
inline bool import_api() { return (api = static_cast<const Api*>(PyCapsule_Import(api_capsule, 0))) != nullptr; }

inline PyObject* whole_object(const Scalar& s) { return s.dtype() == DType::uint64 ? PyLong_FromUnsignedLongLong(s.to<uint64_t>()) : PyLong_FromLongLong(s.to<int64_t>()); }
inline bool is_tensor(PyObject* o) noexcept { return Py_TYPE(o) == api->tensor_type || PyType_IsSubtype(Py_TYPE(o), api->tensor_type); }
inline TensorImpl* impl_of(PyObject* o) noexcept { return reinterpret_cast<TensorObject*>(o)->impl; }
inline Tensor unwrap(PyObject* o) noexcept { return Tensor(impl_of(o)); }
inline PyObject* wrap(Tensor x) { return api->wrap(std::move(x)); }

// Tensors that Python keeps alive during a call, without counting references.
template <int N> class Borrowed {
 public:
  template <class... P> explicit Borrowed(P*... p) noexcept : p_{p...} {}
  operator Tensors() const noexcept { return {reinterpret_cast<const Tensor*>(p_), N}; }

 private:
  TensorImpl* p_[N];
};
static_assert(sizeof(Tensor) == sizeof(TensorImpl*));

}  // namespace adjoint::python
