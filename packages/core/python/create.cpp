// Factories: tensor, zeros, arange, *_like, new_*, and Tensor(...) itself.
#include <adjoint/core/wrapper.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/shared_memory.h>
#include <adjoint/core/sparse.h>

#include "convert.h"
#include "fits.h"
#include "memory_format.h"
#include "module.h"
#include "reference.h"
#include "tensor_type.h"
#include "warn.h"

namespace adjoint::python {

namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;

// The engine adds `requires_grad` to the type; without it nothing can require gradients.
nb::object created(Tensor t, bool requires_grad, OptDevice device = {}) {
  if (device) t = to_device(t, *device);
  if (requires_grad) expect(is_differentiable(t.dtype()), "Only Tensors of floating point and complex dtype can require gradients, got ", t.dtype());
  nb::object o = nb::steal(wrap(std::move(t)));
  if (requires_grad) {
    expect(PyObject_HasAttrString(reinterpret_cast<PyObject*>(api->tensor_type), "requires_grad"), "requires_grad=True needs adjoint_engine");
    o.attr("requires_grad") = true;
  }
  return o;
}

template <class F> void sized(nb::module_& m, const char* name, F make, const char* doc) {
  function(m, name, [make, name](const nb::args& size, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(make(dims_of(size, name), dtype.value_or(default_dtype()), device.value_or(default_device())), requires_grad);
  }, "size"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, doc);
  function(m, name, [make](OptDType dtype, OptDevice device, bool requires_grad, const Dims& size) {
    return created(make(size, dtype.value_or(default_dtype()), device.value_or(default_device())), requires_grad);
  }, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "size"_a);
  const std::string like = std::string(name) + "_like";
  function(m, like.c_str(), [make, name, like](const Tensor& x, OptDType dtype, OptDevice device, bool requires_grad, std::optional<MemoryFormat> format) {
    const Named named(like.c_str(), {&x, 1});
    if (is_sparse(x)) {
      expect(std::string_view(name) != "ones", ErrorKind::not_implemented, "ones_like: not supported for a tensor of a sparse layout; use to_dense() first");
      return created(to_dtype(sparse_zeros(x), dtype.value_or(x.dtype())), requires_grad);
    }
    return created(laid_out(make(x.sizes(), dtype.value_or(x.dtype()), device.value_or(x.device())), format.value_or(MemoryFormat::preserve), x), requires_grad);
  }, "input"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "memory_format"_a = nb::none(), doc);
  Methods().def(("new_" + std::string(name)).c_str(), [make, name](const Tensor& x, const nb::args& size, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(make(dims_of(size, name), dtype.value_or(x.dtype()), device.value_or(x.device())), requires_grad);
  }, "size"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, doc);
  Methods().def(("new_" + std::string(name)).c_str(), [make](const Tensor& x, OptDType dtype, OptDevice device, bool requires_grad, const Dims& size) {
    return created(make(size, dtype.value_or(x.dtype()), device.value_or(x.device())), requires_grad);
  }, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "size"_a);
}

DType number_type(const Scalar& v) {
  switch (category(v.dtype())) {
    case 0: return DType::bool_;
    case 1: return DType::int64;
    case 2: return default_dtype();
  }
  return complex_of(default_dtype());
}

Tensor filled(const Dims& size, const Scalar& v, DType t, Device device) {
  expect_fits(v, filled_by(t));
  return full(size, v, t, device);
}

void bind_full(nb::module_& m) {
  function(m, "full", [](const Dims& size, const Scalar& v, OptDType dtype, OptDevice device, bool requires_grad) {
    const Named named("full");
    return created(filled(size, v, dtype.value_or(number_type(v)), device.value_or(default_device())), requires_grad);
  }, "size"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "A tensor filled with one value.");
  function(m, "full_like", [](const Tensor& x, const Scalar& v, OptDType dtype, OptDevice device, bool requires_grad, std::optional<MemoryFormat> format) {
    const Named named("full_like", {&x, 1});
    return created(laid_out(filled(x.sizes(), v, dtype.value_or(x.dtype()), device.value_or(x.device())), format.value_or(MemoryFormat::preserve), x), requires_grad);
  }, "input"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "memory_format"_a = nb::none(), "A tensor of the shape of `input`, filled with one value.");
  Methods().def("new_full", [](const Tensor& x, const Dims& size, const Scalar& v, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(filled(size, v, dtype.value_or(x.dtype()), device.value_or(x.device())), requires_grad);
  }, "size"_a, "fill_value"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "A filled tensor of this type.");
}

// `n` values from start to end. As core's linspace, also between complex numbers and between 0-d tensors without values to read, those of vmap.
static Tensor spaced(const Tensor& start, const Tensor& end, int64_t n) {
  expect(start.dim() == 0 && end.dim() == 0, "linspace: start and end are 0-dimensional tensors, got ", start.dim(), "D and ", end.dim(), "D");
  const DType wide = is_complex(start.dtype()) || is_complex(end.dtype()) ? DType::complex128 : DType::float64;
  const Tensor a = to_dtype(start, wide), b = to_dtype(end, wide), i = linspace(0, static_cast<double>(n - 1), n, DType::float64, (start->flags & flag_wrapped ? end : start).device());
  const Tensor step = div(sub(b, a), wrapped(static_cast<double>(std::max<int64_t>(n - 1, 1))));
  const Tensor back = sub(wrapped(static_cast<double>(n - 1)), i);
  return where(lt(i, wrapped(static_cast<double>((n + 1) / 2))), add(a, mul(step, i)), sub(b, mul(step, back)));
}

// Tensors that are numbers of their own: no level or tape knows them, and they are here to be read.
static bool is_number(const Tensor& x) { return x.dim() == 0 && !x->keys && x.device().type == DeviceType::cpu; }

static Tensor spaced(const Scalar& start, const Scalar& end, int64_t n) {
  if (is_complex(start.dtype()) || is_complex(end.dtype())) return spaced(wrapped(start), wrapped(end), n);
  return linspace(start.to<double>(), end.to<double>(), n, DType::float64);
}

// An end as elements of dtype count it, if those are integers.
static Tensor end_as(const Tensor& x, OptDType dtype) { return dtype && is_integral(*dtype) ? to_dtype(x, DType::int64) : x; }
static Scalar end_as(const Scalar& x, OptDType dtype) { return dtype && is_integral(*dtype) ? Scalar(x.to<int64_t>()) : x; }

// The values as elements of dtype, or of the default; complex ones are not cut down to real ones.
static Tensor as_type(const char* name, const Tensor& values, OptDType dtype) {
  expect(!dtype || is_complex(*dtype) || !is_complex(values.dtype()), name, ": start or end is complex, and dtype is ", dtype.value_or(DType::bool_));
  return to_dtype(values, dtype.value_or(is_complex(values.dtype()) ? complex_of(default_dtype()) : default_dtype()));
}

static Tensor linspace_between(const Scalar& start, const Scalar& end, int64_t n, OptDType dtype, OptDevice device) {
  const Device there = device.value_or(default_device());
  if (!is_complex(start.dtype()) && !is_complex(end.dtype())) return linspace(start.to<double>(), end.to<double>(), n, dtype.value_or(default_dtype()), there);
  return cuda::uploaded(as_type("linspace", spaced(end_as(start, dtype), end_as(end, dtype), n), dtype), there);
}
static Tensor linspace_between(const Operand& start, const Operand& end, int64_t n, OptDType dtype, OptDevice device) {
  if (is_number(start.t) && is_number(end.t)) return linspace_between(item(start.t), item(end.t), n, dtype, device);
  return to_device(as_type("linspace", spaced(end_as(start.t, dtype), end_as(end.t, dtype), n), dtype), device.value_or(default_device()));
}

static Tensor logspace_between(const Scalar& start, const Scalar& end, int64_t n, double base, OptDType dtype, OptDevice device) {
  return cuda::uploaded(as_type("logspace", pow(wrapped(base), spaced(end_as(start, dtype), end_as(end, dtype), n)), dtype), device.value_or(default_device()));
}
static Tensor logspace_between(const Operand& start, const Operand& end, int64_t n, double base, OptDType dtype, OptDevice device) {
  if (is_number(start.t) && is_number(end.t)) return logspace_between(item(start.t), item(end.t), n, base, dtype, device);
  return to_device(as_type("logspace", pow(wrapped(base), spaced(end_as(start.t, dtype), end_as(end.t, dtype), n)), dtype), device.value_or(default_device()));
}

void bind_ranges(nb::module_& m) {
  function(m, "arange", [](const Scalar& start, std::optional<Scalar> stop, std::optional<Scalar> step, OptDType dtype, OptDevice device, bool requires_grad) {
    const Scalar a = stop ? start : Scalar(0), b = stop ? *stop : start, s = step.value_or(Scalar(1));
    for (const Scalar& v : {a, b, s}) expect_fits(v, DType::float64);   // no complex numbers
    const bool whole = is_integral(a.dtype()) && is_integral(b.dtype()) && is_integral(s.dtype());
    return created(arange(a, b, s, dtype.value_or(whole ? DType::int64 : default_dtype()), device.value_or(default_device())), requires_grad);
  }, "start"_a, "end"_a = nb::none(), "step"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false,
      "Values from `start` to `end`, without `end`.");
  function(m, "arange", [](const Scalar& stop, OptDType dtype, OptDevice device, bool requires_grad) {
    expect_fits(stop, DType::float64);
    return created(arange(Scalar(0), stop, Scalar(1), dtype.value_or(is_integral(stop.dtype()) ? DType::int64 : default_dtype()), device.value_or(default_device())), requires_grad);
  }, nb::kw_only(), "end"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
  const auto bind = [&m]<class Number>(TypeTag<Number>) {   // numbers, and tensors, which may be those of vmap
    function(m, "linspace", [](const Number& start, const Number& end, int64_t steps, OptDType dtype, OptDevice device, bool requires_grad) {
      return created(linspace_between(start, end, steps, dtype, device), requires_grad);
    }, "start"_a, "end"_a, "steps"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "`steps` evenly spaced values, both ends included.");
    function(m, "logspace", [](const Number& start, const Number& end, int64_t steps, double base, OptDType dtype, OptDevice device, bool requires_grad) {
      return created(logspace_between(start, end, steps, base, dtype, device), requires_grad);
    }, "start"_a, "end"_a, "steps"_a, "base"_a = 10.0, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "`steps` values from base**start to base**end.");
  };
  bind(TypeTag<Scalar>{});
  bind(TypeTag<Operand>{});
  function(m, "eye", [](int64_t n, std::optional<int64_t> columns, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(eye(n, columns.value_or(n), dtype.value_or(default_dtype()), device.value_or(default_device())), requires_grad);
  }, "n"_a, "m"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "The identity matrix, (n, m).");
}

// The tensor that `data` is, or one in its memory; none if it has no memory that a tensor can share.
std::optional<Tensor> in_its_memory(nb::handle data) {
  if (is_tensor(data.ptr())) return unwrap(data.ptr());
  if (is_numpy_array(data.ptr())) return from_numpy(data.ptr());
  if (nb::hasattr(data, "__cuda_array_interface__")) return from_cuda_array(data);
  return std::nullopt;
}

// Shares memory where it can: tensors as they are, arrays and DLPack objects by reference.
Tensor as_tensor(nb::handle data, OptDType dtype, OptDevice device, bool may_copy = true) {
  const std::optional<Tensor> found = in_its_memory(data);
  Tensor t = found ? *found : tensor_from(data.ptr(), dtype, "as_tensor");
  if (dtype) {
    warn_of_cast(t.dtype(), *dtype);
    t = to_dtype(t, *dtype);
  }
  if (!device && !is_tensor(data.ptr()) && t.device() == Device{}) device = default_device();
  if (device) t = to_device(t, *device);
  expect(may_copy || (found && found->dtype() == t.dtype() && found->device() == t.device()), ErrorKind::value,
         "asarray: copy=False needs a tensor or an array of the type and on the device of the result (", t.dtype(), ", ", t.device(), "), got ",
         nb::repr(data.type()).c_str());
  return t;
}

Tensor empty_strided(const Dims& size, const Dims& stride, DType dtype, Device device) {
  expect(size.size() == stride.size(), "empty_strided: mismatch in length of strides and shape, got ", size, " and ", stride);
  int64_t reach = 1, step;
  for (int i = 0; i < size.size(); i++)
    expect(!__builtin_mul_overflow(size[i] - 1, stride[i], &step) && !__builtin_add_overflow(reach, step, &reach), "empty_strided: too large: ", size, ", strides ", stride);
  return alias_of(as_strided(empty({size.product() ? reach : 0}, dtype, device), size, stride));
}

// Without gaps, the dimensions in memory in the order of `layout`.
Tensor empty_permuted(const Dims& size, const Dims& layout, DType dtype, Device device) {
  const int n = size.size();
  bool once = layout.size() == n;
  for (int i = 0; once && i < n; i++) once = layout.contains(i);
  expect(once, "empty_permuted: physical_layout must name each of ", n, " dimensions once, got ", layout);
  const Tensor x = empty(size, dtype, device);
  int64_t step = 1;
  for (int i = n; i-- > 0;) {
    const int d = static_cast<int>(layout[i]);
    x->strides[d] = step;
    step *= std::max<int64_t>(size[d], 1);
  }
  x->update_layout();
  return x;
}

void warn_of_copy(nb::handle data, const char* name) {
  if (!is_tensor(data.ptr())) return;
  const std::string text = "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than ";
  warn_user((text + name + "(sourceTensor).").c_str());
}

void bind_data(nb::module_& m) {
  function(m, "tensor", [](nb::handle data, OptDType dtype, OptDevice device, bool requires_grad) {
    warn_of_copy(data, "torch.tensor");
    return created(tensor_from(data.ptr(), dtype, "tensor"), requires_grad, device.value_or(default_device()));
  }, "data"_a.none(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false,
      "A new tensor with a copy of `data`: numbers, nested sequences, arrays.\n\nExample:\n    >>> tensor([1., 2.])\n    tensor([1., 2.])");
  function(m, "as_tensor", [](nb::handle data, OptDType dtype, OptDevice device) { return as_tensor(data, dtype, device); }, "data"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "`data` as a tensor, without a copy where possible.");
  function(m, "asarray", [](nb::handle data, OptDType dtype, OptDevice device, std::optional<bool> copy, bool requires_grad) {
    if (const std::optional<Tensor> memory = lent_memory(data.ptr(), dtype.value_or(default_dtype())))
      return created(to_device(copy.value_or(false) ? clone(*memory) : *memory, device.value_or(default_device())), requires_grad);
    if (copy.value_or(false) && is_tensor(data.ptr())) return created(clone(as_tensor(data, dtype, device)), requires_grad);
    if (copy.value_or(false)) return created(tensor_from(data.ptr(), dtype, "asarray"), requires_grad, device.value_or(default_device()));
    return created(as_tensor(data, dtype, device, copy.value_or(true)), requires_grad);
  }, "obj"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "copy"_a = nb::none(), "requires_grad"_a = false, "`obj` as a tensor, copied only if asked for or needed; `copy=False` raises ValueError where it is needed. The bytes of a buffer (`bytearray`, `array`) are elements of `dtype`.");
  function(m, "scalar_tensor", [](const Scalar& s, OptDType dtype, OptDevice device, bool requires_grad) {
    const DType t = dtype.value_or(default_dtype());
    expect_fits(s, t);
    return created(full({}, s, t, device.value_or(default_device())), requires_grad);
  },
        "s"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "A 0-d tensor.");
  function(m, "empty_strided", [](const Dims& size, const Dims& stride, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(empty_strided(size, stride, dtype.value_or(default_dtype()), device.value_or(default_device())), requires_grad);
  }, "size"_a, "stride"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "Uninitialised memory with the given strides.");
  function(m, "empty_permuted", [](const Dims& size, const Dims& layout, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(empty_permuted(size, layout, dtype.value_or(default_dtype()), device.value_or(default_device())), requires_grad);
  }, "size"_a, "physical_layout"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "Uninitialised memory without gaps, with the dimensions in the given order.");
  Methods().def("new_empty_strided", [](const Tensor& x, const Dims& size, const Dims& stride, OptDType dtype, OptDevice device, bool requires_grad) {
    return created(empty_strided(size, stride, dtype.value_or(x.dtype()), device.value_or(x.device())), requires_grad);
  }, "size"_a, "stride"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "Uninitialised memory of this type with the given strides.");
  Methods().def("new_tensor", [](const Tensor& x, nb::handle data, OptDType dtype, OptDevice device, bool requires_grad) {
    warn_of_copy(data, "tensor.new_tensor");
    return created(tensor_from(data.ptr(), dtype.value_or(x.dtype()), "new_tensor"), requires_grad, device.value_or(x.device()));
  }, "data"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "A copy of `data` with this type.");
}

void bind_subclass() {
  PyObject* type = reinterpret_cast<PyObject*>(api->tensor_type);
  nb::object make = nb::cpp_function([](nb::handle cls, const Tensor& data, bool require_grad) {
    expect(data->storage, "_make_subclass: a tensor inside a transform has no memory of its own");
    const Tensor same = alias_of(data);
    same->flags |= flag_detached;
    data->flags |= flag_detached;
    nb::object o = nb::steal(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), same));
    if (o && require_grad) o.attr("requires_grad") = true;
    return o;
  }, nb::name("_make_subclass"), "cls"_a, "data"_a, "require_grad"_a = false);
  nb::handle(type).attr("_make_subclass") = nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(nb::module_::import_("builtins").attr("staticmethod").ptr()), make.ptr(), nullptr));
  nb::object wrap = nb::cpp_function([](nb::handle cls, const Dims& size, std::optional<Dims> strides, nb::handle, nb::handle, OptDType dtype, nb::handle, OptDevice device, bool, bool requires_grad, const nb::kwargs&) {
    expect(make_wrapper, "_make_wrapper_subclass: there is no engine");
    nb::object o = nb::steal(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), make_wrapper(size, strides ? *strides : contiguous_strides(size), dtype.value_or(default_dtype()), device.value_or(default_device()))));
    if (o && requires_grad) o.attr("requires_grad") = true;
    return o;
  }, nb::name("_make_wrapper_subclass"), "cls"_a, "size"_a, "strides"_a = nb::none(), "storage_offset"_a = nb::none(), "memory_format"_a = nb::none(), "dtype"_a = nb::none(), "layout"_a = nb::none(), "device"_a = nb::none(), "pin_memory"_a = false, "requires_grad"_a = false, "options"_a);
  nb::handle(type).attr("_make_wrapper_subclass") = nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(nb::module_::import_("builtins").attr("staticmethod").ptr()), wrap.ptr(), nullptr));
  Methods().def("as_subclass", [](const Tensor& x, nb::handle cls) {
    return nb::steal(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), alias(x)));
  }, "cls"_a, "The same tensor, as an instance of `cls`.");
}

}  // namespace

Dims dims_of(const nb::args& args, const char* op) {
  Dims d;
  nb::handle one = args.size() == 1 ? nb::handle(args[0]) : nb::handle(args);
  if (!to_dims(one.ptr(), d)) {
    PyErr_Clear();
    std::string got = nb::repr(one).c_str();
    if (got.size() > 80) got = got.substr(0, 80) + " ...";
    fail(ErrorKind::type, op, ": sizes must be ints or one sequence of ints, got ", got);
  }
  return d;
}

// Tensor(), Tensor(2, 3) (uninitialised), Tensor([1, 2]) and Tensor(x): PyTorch's old constructor, which subclasses inherit.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([=]() -> PyObject* {
    const Py_ssize_t n = PyTuple_Size(args);
    PyObject* first = n > 0 ? PyTuple_GetItem(args, 0) : nullptr;
    Tensor t;
    Dims sizes;
    if (n == 0) t = empty({0}, default_dtype());
    else if (is_tensor(first)) t = alias(unwrap(first));
    else if (PyIndex_Check(first) && !is_numpy_array(first) && to_dims(args, sizes)) t = empty(sizes, default_dtype());
    else if (Py_TYPE(first) == api->size_type && to_dims(first, sizes)) t = empty(sizes, default_dtype());
    else if (is_numpy_array(first)) t = to_dtype(from_numpy(first), default_dtype());   // its memory, where the type is the same
    else { PyErr_Clear(); t = tensor_from(first, default_dtype(), "Tensor"); }
    return wrap_as(type, std::move(t));
  });
}

void bind_create(nb::module_& m) {
  sized(m, "zeros", [](const Dims& s, DType t, Device d) { return zeros(s, t, d); }, "A tensor of zeros.");
  sized(m, "ones", [](const Dims& s, DType t, Device d) { return ones(s, t, d); }, "A tensor of ones.");
  sized(m, "empty", [](const Dims& s, DType t, Device d) { const Named named("empty"); return empty(s, t, d); }, "A tensor of uninitialised memory.");
  function(m, "empty", [](const nb::args& size, MemoryFormat format, OptDType dtype, OptDevice device, bool requires_grad) {
    expect(format != MemoryFormat::preserve, "unsupported memory format Preserve");
    const Tensor x = empty(dims_of(size, "empty"), dtype.value_or(default_dtype()), device.value_or(default_device()));
    return created(laid_out(x, format, x), requires_grad);
  }, "size"_a, "memory_format"_a, "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
  bind_full(m);
  bind_ranges(m);
  bind_data(m);
  bind_subclass();
  function(m, "get_default_dtype", [] { return default_dtype(); }, "The type of new floating-point tensors.");
  function(m, "set_default_dtype", [](DType t) { set_default_dtype(t); }, "d"_a, "Sets the type of new floating-point tensors.");
}

}  // namespace adjoint::python
