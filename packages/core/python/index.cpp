// x[...] and x[...] = v: views for the basic parts of an index, one gather or scatter for the tensors in it.
#include <nanobind/nanobind.h>

#include <string>

#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/pool.h>

#include "module.h"
#include "convert.h"
#include "fits.h"
#include "tensor_type.h"
#include "value_types.h"
#include "protocol.h"
#include "warn.h"

namespace nb = nanobind;

namespace adjoint::python {

namespace {

bool is_mask(DType t) { return t == DType::bool_ || t == DType::uint8; }
// Lists that hold anything but numbers count as tuples: x[[0, slice(None)]] is x[0, :].
bool counts_as_tuple(PyObject* key) {
  if (PyTuple_Check(key)) return true;
  if (!PyList_Check(key)) return false;
  const Py_ssize_t n = PyList_Size(key);
  if (n >= 32) return false;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* o = PyList_GetItem(key, i);
    if (PySequence_Check(o) || is_tensor(o) || PySlice_Check(o) || o == Py_Ellipsis || o == Py_None) return true;
  }
  return false;
}

void check_range(int64_t index, int dim, int64_t size) {
  if (index < -size || index >= size) fail(ErrorKind::index, "index ", index, " is out of bounds for dimension ", dim, " with size ", size);
}

class Indexer {
 public:
  Indexer(Tensor x, PyObject* key) : x_(std::move(x)), original_(x_) {
    if (PyList_Check(key) && counts_as_tuple(key)) {   // conversions run user code, which may change a list
      warn_user("Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
                "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error or a different result");
      copy_ = nb::steal(PyList_AsTuple(key));
      key = copy_.ptr();
    }
    if (!counts_as_tuple(key)) parts_.push_back(key);
    else for (Py_ssize_t i = 0, n = sequence_size(key); i < n; i++) parts_.push_back(PyTuple_GetItem(key, i));
    arrays_.resize(parts_.size());
    const int given = convert();
    expect(x_.dim() > 0 || given != 1 || parts_.size() != 1 || !PyIndex_Check(key), ErrorKind::index,
           "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    expect(given <= x_.dim(), ErrorKind::index, "too many indices for tensor of dimension ", x_.dim());
    skipped_ = x_.dim() - given;
    for (size_t i = 0; i < parts_.size(); i++) take(i);
  }
  const Tensor& basic() const { return x_; }
  const TensorVector& indices() const { return indices_; }
  bool moved() const { return !x_.is(original_); }

 private:
  // Turns lists and arrays into tensors; returns how many dimensions the index uses up.
  int convert() {
    int given = 0;
    for (size_t i = 0; i < parts_.size(); i++) {
      PyObject* o = parts_[i];
      if (PyLong_CheckExact(o) || PySlice_Check(o)) { given++; continue; }   // the usual ones first: the other tests cost more
      if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) continue;
      if (is_tensor(o)) arrays_[i] = unwrap(o);
      else if (is_numpy_array(o)) arrays_[i] = cast_memory(from_numpy(o, false), index_type(from_numpy(o, false).dtype()));
      else if (!PyIndex_Check(o) && PySequence_Check(o)) arrays_[i] = array_of(o);
      else if (!PyIndex_Check(o)) refuse(o);
      given += arrays_[i] && is_mask(arrays_[i].dtype()) ? arrays_[i].dim() : 1;
    }
    return given;
  }

  // Lists and arrays of any numbers are positions, as in PyTorch, whose tensors of floats are not.
  static DType index_type(DType t) { return is_mask(t) ? t : DType::int64; }
  static Tensor array_of(PyObject* o) {
    const Tensor t = tensor_from(o, {}, "index");
    expect(!is_complex(t.dtype()), ErrorKind::type, "'complex' object cannot be interpreted as an integer");
    return t.dtype() == index_type(t.dtype()) ? t : cast_memory(t, DType::int64);
  }
  [[noreturn]] static void refuse(PyObject* o) {
    fail(ErrorKind::index, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ", type_name(o), ")");
  }

  void take(size_t i) {
    PyObject* o = parts_[i];
    if (arrays_[i]) take_array(is_tensor(o) || is_numpy_array(o) ? arrays_[i] : sent(arrays_[i]));
    else if (o == Py_None) insert();
    else if (o == Py_Ellipsis) dim_ += skipped_;
    else if (PyBool_Check(o)) { insert(); dim_--; record(full({o == Py_True}, 0, DType::int64, x_.device()), 1); }
    else if (PySlice_Check(o)) take_slice(o);
    else take_integer(PyNumber_AsSsize_t(o, PyExc_IndexError));
  }

  void insert() { x_ = unsqueeze(x_, dim_++); }

  void take_integer(int64_t index) {
    if (index == -1 && PyErr_Occurred()) throw nb::python_error();
    check_range(index, real_dim_, x_.size(dim_));
    x_ = select(x_, dim_, index);
    real_dim_++;
  }

  void take_slice(PyObject* o) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw nb::python_error();
    expect(step > 0, ErrorKind::value, "step must be greater than zero");
    const int64_t n = x_.size(dim_);
    PySlice_AdjustIndices(n, &start, &stop, step);
    if (start != 0 || stop != n || step != 1) x_ = slice(x_, dim_, start, std::max(start, stop), step);
    dim_++;
    real_dim_++;
  }

  void take_array(const Tensor& t) {
    const bool readable = !(t->keys & key_lifted), mask = is_mask(t.dtype());
    if (t.dim() == 0 && is_integral(t.dtype()) && readable) {
      if (!mask) return take_integer(item(t).to<int64_t>());
      insert();
      dim_--;
      return record(full({item(t).to<bool>()}, 0, DType::int64), 1);
    }
    expect(is_integral(t.dtype()), ErrorKind::index, "tensors used as indices must be long, int, byte or bool tensors");
    if (t.dtype() == DType::uint8) warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    record(t, mask ? t.dim() : 1);
    real_dim_ += mask ? t.dim() : 1;
  }

  // A list of positions on the device, whose kernels cannot raise: they are looked at here.
  Tensor sent(const Tensor& t) {
    if (x_.device().type == DeviceType::cpu) return t;
    if (t.dtype() == DType::int64) for (int64_t i = 0; i < t.numel(); i++) check_range(reinterpret_cast<const int64_t*>(t->data)[i], real_dim_, x_.size(dim_));
    return cuda::uploaded(t, x_.device());
  }

  // The list has one entry for each dimension before this one, except that a mask is one entry for all of its own.
  void record(Tensor t, int width) {
    while (covered_ < dim_) { indices_.emplace_back(); covered_++; }
    indices_.push_back(std::move(t));
    dim_ += width;
    covered_ = dim_;
  }

  Tensor x_, original_;
  nb::object copy_;
  Vector<PyObject*> parts_;
  TensorVector arrays_, indices_;
  int dim_ = 0, real_dim_ = 0, covered_ = 0, skipped_ = 0;
};

// Leading dimensions of size one do not count when a value is assigned.
Tensor without_leading_ones(const Tensor& value, int ndim) {
  int extra = 0;
  while (value.dim() - extra > ndim && value.size(extra) == 1) extra++;
  if (extra == 0) return value;
  return reshape(value, Dims(std::span(value.sizes().data() + extra, static_cast<size_t>(value.dim() - extra))));
}

std::string class_name(DType t) {
  constexpr const char* names[dtype_count] = {"Bool", "Byte", "UInt16", "UInt32", "UInt64", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble"};
  return printed(names[static_cast<int>(t)]) + "Tensor";
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* key) {
  return guarded([=] {
    int overflow = 1;
    const int64_t i = PyLong_CheckExact(key) && impl_of(self)->ndim() > 0 ? PyLong_AsLongLongAndOverflow(key, &overflow) : 0;
    if (!overflow) {   // x[3], the most frequent of all
      const Borrowed<1> lent(impl_of(self));
      const Tensor& x = Tensors(lent)[0];
      check_range(i, 0, x.size(0));
      return wrap_tensor(select(x, 0, i));
    }
    if (may_be_answered())
      if (PyObject* found = answer_item("__getitem__", self, key); found || PyErr_Occurred()) return found;
    try {
      const Indexer at(unwrap(self), key);
      if (!at.indices().empty()) return wrap_tensor(index(at.basic(), at.indices()));
      return wrap_tensor(at.moved() ? at.basic() : alias(at.basic()));
    } catch (...) {   // no index: an object that is no tensor may answer
      if (PyObject* found = answer_item("__getitem__", self, key); found || PyErr_Occurred()) return found;
      throw;
    }
  });
}

int tensor_setitem(PyObject* self, PyObject* key, PyObject* value) {
  try {
    expect(value, ErrorKind::type, "Tensor does not support deleting items");
    const Tensor x = unwrap(self);
    Tensor v;
    const bool fits = as_operand(value, v);
    if (may_be_answered() || !fits) {
      const nb::object found = nb::steal(answer_item("__setitem__", self, key, value));
      if (PyErr_Occurred()) throw nb::python_error();
      if (found.is_valid()) return 0;
    }
    expect(fits, ErrorKind::type, "can't assign a ", type_name(value), " to a ", class_name(x.dtype()));
    expect_number_fits(v, filled_by(x.dtype()));
    if (!(v->flags & flag_wrapped)) warn_of_cast(v.dtype(), x.dtype());
    if (key == Py_False) return 0;   // of no element, whatever is given
    const Indexer at(x, key);
    if (at.indices().empty()) {
      v = without_leading_ones(v, at.basic().dim());
      copy_(at.basic(), v.dim() == 0 || v.sizes() == at.basic().sizes() ? v : expand(v, at.basic().sizes()));
      return 0;
    }
    warn_if_expanded(at.basic(), {at.indices(), {&v, 1}}, "index_put_", "tensor[indices] = tensor");
    updated(at.basic(), [&](const Tensor& into) { return index_put(into, at.indices(), v); });
    return 0;
  } catch (...) { raise(); return -1; }
}

}  // namespace adjoint::python
