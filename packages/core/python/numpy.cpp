// NumPy arrays and back, sharing memory, through the buffer protocol: NumPy itself is imported only by the caller's use.
#include <adjoint/core/sparse.h>

#include <cstring>
#include <optional>

#include "convert.h"
#include "module.h"
#include "reference.h"
#include "warn.h"

namespace adjoint::python {

namespace {

DType dtype_of_array(nb::handle array) {
  DType t;
  nb::object descriptor = array.attr("dtype");
  expect(numpy_dtype(descriptor.ptr(), t), ErrorKind::type, "can't convert np.ndarray of type ", nb::str(descriptor).c_str(), ". The only supported types are: float64, float32, float16, complex64, complex128, "
         "int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.");
  expect(nb::cast<bool>(descriptor.attr("isnative")), ErrorKind::value, "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported.");
  return t;
}

void release_owner(void* owner) noexcept { python_hooks.dec(static_cast<PyObject*>(owner)); }

// What a module holds under a name, looked up once: the way through the importer takes longer than an array does.
nb::handle found_once(PyObject*& found, const char* module, const char* name) {
  if (!found) found = nb::object(nb::module_::import_(module).attr(name)).release().ptr();
  return found;
}

// A tensor's memory as NumPy asks about it: the fields of its PyArrayInterface, and what keeps the memory.
struct Shown {
  int two = 2, ndim;
  char kind;
  int size, flags;
  intptr_t *sizes, *strides;
  void* data;
  PyObject* descriptor = nullptr;
  Tensor tensor;
  Dims steps;   // bytes

  explicit Shown(Tensor t) : ndim(t.dim()), kind("buuuuiiiiffffcc"[static_cast<int>(t.dtype())]), size(static_cast<int>(itemsize(t.dtype()))), tensor(std::move(t)) {
    constexpr int aligned = 0x100, native = 0x200, writable = 0x400;
    flags = aligned | native | writable;
    for (int i = 0; i < ndim; i++) steps.push_back(tensor->strides[i] * size);
  }
};
// The array that asks keeps the object, and so what the fields point to.
nb::object array_struct(Shown& x) {
  static_assert(sizeof(intptr_t) == sizeof(int64_t));
  x.sizes = reinterpret_cast<intptr_t*>(x.tensor->sizes.data());
  x.strides = reinterpret_cast<intptr_t*>(x.steps.data());
  x.data = x.tensor->data;
  return nb::steal(PyCapsule_New(&x, nullptr, nullptr));
}

nb::object array_of(const Tensor& t) {
  expect(!(t->keys & key_sparse), ErrorKind::type, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.");
  expect(t->storage && t.device().type == DeviceType::cpu, ErrorKind::type, "can't convert ", t.device(), " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
  expect(t.dtype() != DType::bfloat16, ErrorKind::type, "Got unsupported ScalarType BFloat16");
  static PyObject* as_array = nullptr;
  return found_once(as_array, "numpy", "asarray")(nb::cast(Shown(alias_of(t))));   // t itself may exchange its memory for another
}

}  // namespace

// What an array says of its memory. Strides are in bytes; of dense arrays there may be none.
namespace {

struct ArrayMemory {
  DType dtype;
  Dims sizes;
  std::optional<Dims> strides;
  char* data;
  bool readonly;
};

// Of numbers in the machine's own order; none for all others.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return std::nullopt;
  const bool complex = *format == 'Z';
  const char kind = format[complex];
  if (kind == 0 || format[complex + 1] != 0) return std::nullopt;
  if (complex) return kind == 'f' ? std::optional(DType::complex64) : kind == 'd' ? std::optional(DType::complex128) : std::nullopt;
  const auto sized = [size](DType one, DType two, DType four, DType eight) { return size == 1 ? one : size == 2 ? two : size == 4 ? four : eight; };
  if (kind == '?') return DType::bool_;
  if (kind == 'e') return DType::float16;
  if (kind == 'f') return DType::float32;
  if (kind == 'd') return DType::float64;
  if (std::strchr("bhilq", kind)) return sized(DType::int8, DType::int16, DType::int32, DType::int64);
  if (std::strchr("BHILQ", kind)) return sized(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
  return std::nullopt;
}

// By the buffer protocol, a sixth of the time of the array's interface, which is asked about everything that is unusual.
std::optional<ArrayMemory> layout_in_buffer(PyObject* o) {
  Py_buffer view;
  if (PyObject_GetBuffer(o, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const auto dtype = dtype_of_format(view.format, view.itemsize);
  std::optional<ArrayMemory> found;
  if (dtype && view.ndim <= Dims::max) {
    found = ArrayMemory{*dtype, {}, Dims(), static_cast<char*>(view.buf), view.readonly != 0};
    for (int i = 0; i < view.ndim; i++) {
      found->sizes.push_back(view.shape[i]);
      found->strides->push_back(view.strides[i]);
    }
  }
  PyBuffer_Release(&view);   // the tensor holds the array
  return found;
}
ArrayMemory layout_of(PyObject* o) {
  if (auto found = layout_in_buffer(o)) return *found;
  const nb::handle array(o);
  const DType dtype = dtype_of_array(array);
  nb::object interface = array.attr("__array_interface__"), strides = interface["strides"];
  return {dtype, nb::cast<Dims>(interface["shape"]), strides.is_none() ? std::nullopt : std::optional(nb::cast<Dims>(strides)), reinterpret_cast<char*>(nb::cast<uintptr_t>(interface["data"][0])), nb::cast<bool>(interface["data"][1])};
}

}  // namespace

Tensor from_numpy(PyObject* o, bool shares) {
  const ArrayMemory l = layout_of(o);
  const DType dtype = l.dtype;
  if (shares && l.readonly)
    warn_once("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this tensor will result in undefined behavior. You may want to copy "
              "the array to protect its data or make it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program.");
  Tensor t(TensorImpl::make());
  t->dtype = dtype;
  t->sizes = l.sizes;
  t->set_contiguous_strides();
  int64_t reach = 0;
  if (l.strides) {
    const Dims& strides = *l.strides;
    for (int i = 0; i < l.sizes.size(); i++) {
      expect(strides[i] >= 0, ErrorKind::value, "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. "
             "(You can probably work around this by making a copy of your array with array.copy().)");
      expect(strides[i] % itemsize(dtype) == 0, ErrorKind::value, "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.");
      t->strides[i] = strides[i] / itemsize(dtype);
    }
    t->update_layout();
  }
  for (int i = 0; i < l.sizes.size(); i++) reach += (l.sizes[i] - 1) * t->strides[i];
  t->storage = Storage::borrow(l.data, t->numel ? (reach + 1) * itemsize(dtype) : 0, release_owner, Py_NewRef(o));
  t->data = l.data;
  return t;
}

void bind_numpy(nb::module_& m) {
  nb::class_<Shown>(m, "_Shown").def_prop_ro("__array_struct__", &array_struct);
  m.def("from_numpy", [](nb::handle array) {
    expect(is_numpy_array(array.ptr()), ErrorKind::type, "from_numpy: expected np.ndarray (got ", type_name(array.ptr()), ")");
    return from_numpy(array.ptr());
  }, "array"_a, "A tensor that shares the memory of a NumPy array.");
  m.def("_array_of", &array_of, "tensor"_a);
}

}  // namespace adjoint::python
