// Python values to C++ values: numbers, sizes, nested sequences.
#include "convert.h"

#include <adjoint/core/sparse.h>

#include <nanobind/nanobind.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "fits.h"
#include "reference.h"
#include "warn.h"

namespace nb = nanobind;

namespace adjoint::python {

namespace {

bool from_numpy_module(PyObject* o) noexcept {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  Reference module(PyObject_GetAttrString(type, "__module__"));
  const char* name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : nullptr;
  if (!name) PyErr_Clear();
  return name && (std::strcmp(name, "numpy") == 0 || std::strncmp(name, "numpy.", 6) == 0);
}

bool plain_number(PyObject* o) { return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o); }

bool integer(PyObject* o, Scalar& out) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (!overflow) { out = Scalar(static_cast<int64_t>(v)); return true; }
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_SetString(PyExc_OverflowError, "int too big to convert");
    return false;
  }
  out = Scalar(static_cast<uint64_t>(large));
  return true;
}

// np.float32(1), np.int8(1), np.bool_(1), np.complex64(1): anything of NumPy's with a value but without dimensions.
bool numpy_number(PyObject* o, Scalar& out) {
  if (!from_numpy_module(o) || is_numpy_array(o) || PyType_Check(o)) return false;
  Reference value(PyObject_CallMethod(o, "item", nullptr));
  if (!value) { PyErr_Clear(); return false; }
  return !from_numpy_module(value.get()) && to_scalar(value.get(), out);
}

}  // namespace

std::string type_name(PyObject* o) {
  Reference name(PyType_GetName(Py_TYPE(o)));
  return PyUnicode_AsUTF8AndSize(name.get(), nullptr);
}

bool is_sequence(PyObject* o) noexcept { return PyList_Check(o) || PyTuple_Check(o); }

bool is_numpy_array(PyObject* o) noexcept {
  static PyObject* ndarray = nullptr;
  if (ndarray) return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(ndarray));
  if (!from_numpy_module(o)) return false;
  PyObject* numpy = PyImport_GetModule(nb::str("numpy").ptr());  // loaded, since `o` comes from it
  ndarray = numpy ? PyObject_GetAttrString(numpy, "ndarray") : nullptr;
  Py_XDECREF(numpy);
  PyErr_Clear();
  return ndarray && PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(ndarray));
}

bool to_scalar(PyObject* o, Scalar& out) {
  if (PyFloat_Check(o)) { out = Scalar(PyFloat_AsDouble(o)); return true; }
  if (PyBool_Check(o)) { out = Scalar(o == Py_True); return true; }
  if (PyLong_Check(o)) return integer(o, out);
  if (PyComplex_Check(o)) { out = Scalar(Complex<double>{PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)}); return true; }
  if (PyUnicode_Check(o) || is_sequence(o) || o == Py_None || is_tensor(o)) return false;
  return numpy_number(o, out);
}

bool to_dims(PyObject* o, Dims& out) {
  auto one = [](PyObject* item, int64_t& v) {
    if (PyFloat_Check(item) || !PyIndex_Check(item)) return false;
    v = PyLong_Check(item) ? PyLong_AsLongLong(item) : PyNumber_AsSsize_t(item, PyExc_OverflowError);
    return !(v == -1 && PyErr_Occurred());
  };
  int64_t v;
  if (is_sequence(o)) {
    const Py_ssize_t n = sequence_size(o);
    out.resize(static_cast<int>(n));
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject* item = PyTuple_Check(o) ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
      if (!item || !one(item, v)) return false;   // null: an __index__ has shortened the list
      out[static_cast<int>(i)] = v;
    }
    return true;
  }
  if (is_tensor(o) && (impl_of(o)->ndim() > 1 || impl_of(o)->numel != 1)) return false;
  if (!one(o, v)) return false;
  out.resize(1);
  out[0] = v;
  return true;
}

PyObject* size_object(const Dims& sizes) {
  PyObject* t = PyType_GenericAlloc(api->size_type, sizes.size());   // past Size.__new__, which looks at each size
  for (int i = 0; t && i < sizes.size(); i++) PyTuple_SetItem(t, i, PyLong_FromLongLong(sizes[i]));
  return t;
}

PyObject* scalar_object(const Scalar& s) {
  switch (category(s.dtype())) {
    case 0: return PyBool_FromLong(s.to<bool>());
    case 1: return whole_object(s);
    case 2: return PyFloat_FromDouble(s.to<double>());
  }
  const auto z = s.to<Complex<double>>();
  return PyComplex_FromDoubles(z.re, z.im);
}

bool as_operand(PyObject* o, Tensor& out) {
  if (is_tensor(o)) { out = unwrap(o); return true; }
  Scalar s{0};
  if (to_scalar(o, s)) { out = wrapped(s); return true; }
  if (PyErr_Occurred()) throw nb::python_error();
  if (!is_numpy_array(o)) return false;
  out = from_numpy(o, false);
  return true;
}

// ---- nested sequences

namespace {

PyObject* item_at(PyObject* sequence, Py_ssize_t i) {
  PyObject* o = PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, i) : PyList_GetItem(sequence, i);
  if (!o) throw nb::python_error();   // user code has shortened the list
  return o;
}

// The memory of a tensor in the data: a dual one counts with its primal, as a constant.
Tensor plain(PyObject* o, const char* op) {
  const Tensor t = unwrap(o);
  expect_strided(*t, op);
  if (!(t->keys & key_lifted)) return t;
  const TensorImpl* memory = engine_hooks.memory(*t);
  expect(memory, op, ": vmap: a tensor inside the function has no values of its own to copy: use stack, or clone");
  return Tensor(const_cast<TensorImpl*>(memory));
}

// Anything else that has a length and elements, as ranges.
bool looks_like_sequence(PyObject* o) { return !PyUnicode_Check(o) && !PyDict_Check(o) && !PyBytes_Check(o) && nb::hasattr(o, "__len__") && nb::hasattr(o, "__getitem__"); }
struct Unlisted {};   // thrown where one of them was met

nb::object listed(nb::handle o, const char* op, int depth = 0) {
  expect(depth <= Dims::max, ErrorKind::value, op, ": too many dimensions '", type_name(o.ptr()), "'");   // what has itself as its element
  if (is_tensor(o.ptr()) || is_numpy_array(o.ptr()) || !(is_sequence(o.ptr()) || looks_like_sequence(o.ptr()))) return nb::borrow(o);
  nb::list y;
  const size_t n = nb::len(o);   // it may have elements without end
  for (size_t i = 0; i < n; i++) y.append(listed(o[i], op, depth + 1));
  return y;
}

struct Nested {
  Dims sizes;
  int rank = -1;          // the highest category of a number seen, or
  DType dtype{};          // the promoted type of tensors and NumPy scalars seen
  bool typed = false;
  bool slow = false;      // an array was seen
  const char* op;
  bool asked = false;     // for a type

  void measure(PyObject* o) {
    while (is_sequence(o)) {
      const Py_ssize_t n = sequence_size(o);
      sizes.push_back(n);
      if (n == 0) return;
      o = item_at(o, 0);
      expect(sizes.size() <= Dims::max, ErrorKind::value, op, ": too many dimensions");
    }
    if (is_tensor(o) && impl_of(o)->numel == 1) return;   // a number, as in PyTorch, however many dimensions it has
    if (is_tensor(o)) for (int64_t n : impl_of(o)->sizes) sizes.push_back(n);
    else if (is_numpy_array(o)) for (int64_t n : from_numpy(o, false).sizes()) sizes.push_back(n);
  }

  void see(int category) { rank = std::max(rank, category); }
  void add(DType t) { dtype = typed ? promote(dtype, t) : t; typed = true; }

  // Infers the type and checks that the shape is regular.
  void scan(PyObject* o, int depth) {
    if (is_sequence(o)) {
      const Py_ssize_t n = sequence_size(o);
      expect(depth < sizes.size(), ErrorKind::value, op, ": too many dimensions 'list'");
      expect(n == sizes[depth], ErrorKind::value, op, ": expected sequence of length ", sizes[depth], " at dim ", depth, " (got ", n, ")");
      for (Py_ssize_t i = 0; i < n; i++) scan(item_at(o, i), depth + 1);
      return;
    }
    const bool usual = plain_number(o);
    if (!usual && is_tensor(o)) return add(impl_of(o)->dtype);
    if (!usual && is_numpy_array(o)) {
      if (!std::exchange(slow, true))
        warn_once("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single numpy.ndarray with numpy.array() before converting to a tensor.");
      return add(from_numpy(o, false).dtype());
    }
    if (!usual && looks_like_sequence(o)) throw Unlisted();
    expect(depth == sizes.size(), ErrorKind::type, op, ": expected a sequence at dim ", depth);
    if (usual) return see(PyBool_Check(o) ? 0 : PyLong_Check(o) ? 1 : 2);
    Scalar s{0};
    if (!to_scalar(o, s)) {
      if (PyErr_Occurred()) throw nb::python_error();
      if (PyUnicode_Check(o) && sizes.empty()) fail(ErrorKind::type, "new(): invalid data type 'str'");
      if (PyUnicode_Check(o)) fail(ErrorKind::value, op, ": too many dimensions 'str'");
      if (asked) fail(ErrorKind::type, op, ": not a sequence or a number: '", type_name(o), "'");
      fail(ErrorKind::runtime, "Could not infer dtype of ", type_name(o));
    }
    DType own;
    if (from_numpy_module(o) && numpy_dtype(nb::object(nb::handle(o).attr("dtype")).ptr(), own)) return add(own);  // np.float64(1) brings its type
    see(category(s.dtype()));
  }

  DType inferred() const {
    if (rank < 0) return typed ? dtype : default_dtype();
    const DType number = rank == 0 ? DType::bool_ : rank == 1 ? DType::int64 : rank == 2 ? default_dtype() : complex_of(default_dtype());
    return typed ? promote(dtype, number) : number;
  }
};

// Writes the elements of nested sequences into memory. Conversions run user code, which may change the sequence: never beyond `end`.
class Filling {
 public:
  Filling(const Tensor& t, const char* op) : dtype_(t.dtype()), op_(op), size_(itemsize(dtype_)), at_(static_cast<char*>(t->data)), end_(at_ + t.numel() * size_) {
    put_ = with_type(dtype_, [](auto tag) -> Put {
      using T = typename decltype(tag)::type;
      return [](char* to, const Scalar& s) { *reinterpret_cast<T*>(to) = s.to<T>(); };
    });
  }
  void all(PyObject* o) {
    add(o);
    expect_unchanged(at_ == end_);
  }

 private:
  using Put = void (*)(char* to, const Scalar& s);
  const DType dtype_;
  const char* const op_;
  const int64_t size_;
  char* at_;
  char* const end_;
  Put put_;

  void expect_unchanged(bool holds) const { expect(holds, ErrorKind::value, op_, ": the data changed while they were read"); }
  void add(PyObject* o) {
    if (is_sequence(o)) {
      const Py_ssize_t n = sequence_size(o);
      for (Py_ssize_t i = 0; i < n; i++) add(item_at(o, i));
    } else if (!plain_number(o) && (is_tensor(o) || is_numpy_array(o))) {
      if (is_tensor(o)) warn_of_number(unwrap(o));
      const Tensor t = cast_memory(contiguous(is_tensor(o) ? to_device(plain(o, op_), {}) : from_numpy(o, false)), dtype_);
      expect_unchanged(t.numel() * size_ <= end_ - at_);
      std::memcpy(at_, t->data, static_cast<size_t>(t.numel() * size_));
      at_ += t.numel() * size_;
    } else {
      expect_unchanged(at_ < end_);
      const Scalar s = read(o);
      expect_element_fits(s, dtype_);
      put_(at_, s);
      at_ += size_;
    }
  }
  Scalar read(PyObject* o) const {
    Scalar s{0};
    if (PyLong_CheckExact(o) && !is_integral(dtype_)) s = Scalar(PyLong_AsDouble(o));   // however large
    else if (!to_scalar(o, s)) expect_unchanged(PyErr_Occurred());
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_OverflowError) || !is_integral(dtype_)) throw nb::python_error();
      PyErr_Clear();
      fail(ErrorKind::value, op_, ": Overflow when unpacking long long, of a number beyond 64 bits");
    }
    return s;
  }
};

}  // namespace

Tensor tensor_from(PyObject* data, std::optional<DType> dtype, const char* op) {
  if (is_tensor(data)) {
    if (dtype) warn_of_cast(impl_of(data)->dtype, *dtype);
    return cast_memory(plain(data, op), dtype.value_or(impl_of(data)->dtype));
  }
  if (is_numpy_array(data)) {
    const Tensor t = from_numpy(data, false);
    warn_of_cast(t, dtype);
    return cast_memory(t, dtype.value_or(t.dtype()));
  }
  if (!is_sequence(data) && !plain_number(data)) {
    Scalar number{0};
    nb::object o = nb::borrow(data);
    if (!to_scalar(data, number)) {
      if (PyErr_Occurred()) throw nb::python_error();
      if (nb::hasattr(o, "__array__")) {
        nb::object array = o.attr("__array__")();
        expect(is_numpy_array(array.ptr()), ErrorKind::type, op, ": ", type_name(data), ".__array__ must return a NumPy array, got ", type_name(array.ptr()));
        return tensor_from(array.ptr(), dtype, op);
      }
      if (looks_like_sequence(data)) return tensor_from(listed(o, op).ptr(), dtype, op);
      if (nb::hasattr(o, "__index__")) return tensor_from(nb::int_(o).ptr(), dtype, op);
      if (nb::hasattr(o, "__float__")) return tensor_from(nb::float_(o).ptr(), dtype, op);
    } else if (!dtype && from_numpy_module(data) && nb::hasattr(o, "dtype")) {
      DType own;
      if (numpy_dtype(o.attr("dtype").ptr(), own)) dtype = own;  // np.float64(1) keeps its type
    }
  }
  Nested nested;
  nested.op = op;
  nested.asked = dtype.has_value();
  nested.measure(data);
  try {
    nested.scan(data, 0);
  } catch (Unlisted) {
    return tensor_from(listed(data, op).ptr(), dtype, op);
  }
  Tensor t = empty(nested.sizes, dtype.value_or(nested.inferred()));
  if (t.numel()) Filling(t, op).all(data);
  return t;
}

}  // namespace adjoint::python
