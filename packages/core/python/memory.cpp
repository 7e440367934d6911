// Methods about layout, memory and conversion: size, stride, item, to, clone, copy_, fill_, ...
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/inference.h>
#include <adjoint/core/shared_memory.h>
#include <adjoint/core/observer.h>

#include <algorithm>
#include <cstring>

#include <adjoint/core/sparse.h>

#include "convert.h"
#include "direct.h"
#include "fits.h"
#include "memory_format.h"
#include "reference.h"
#include "value_types.h"
#include "warn.h"

namespace adjoint::python {

namespace {

template <class T> PyObject* python_number(T v) {
  if constexpr (std::is_same_v<T, bool>) return PyBool_FromLong(v);
  else if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? PyLong_FromLongLong(static_cast<long long>(v)) : PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(v));
  else if constexpr (is_complex_v<T>) return PyComplex_FromDoubles(v.re, v.im);
  else return PyFloat_FromDouble(convert<double>(v));
}
nb::object valid(PyObject* o) {
  if (!o) throw nb::python_error();
  return nb::steal(o);
}
// The elements from dimension `dim` on; a number of no more dimensions.
nb::object list_of(const char* p, const TensorImpl& t, int dim) {
  if (dim == t.ndim()) return with_type(t.dtype, [&](auto tag) { return valid(python_number(*reinterpret_cast<const typename decltype(tag)::type*>(p))); });
  const int64_t n = t.sizes[dim], step = t.strides[dim] * itemsize(t.dtype);
  nb::object l = valid(PyList_New(n));
  const auto fill = [&](const auto& element) {
    for (int64_t i = 0; i < n; i++) PyList_SetItem(l.ptr(), i, element(p + i * step));
  };
  if (dim + 1 < t.ndim()) fill([&](const char* from) { return list_of(from, t, dim + 1).release().ptr(); });
  else with_type(t.dtype, [&](auto tag) { fill([](const char* from) { return valid(python_number(*reinterpret_cast<const typename decltype(tag)::type*>(from))).release().ptr(); }); });
  return l;
}

void need_memory(const Tensor& t, const char* op) {
  expect_strided(*t, op);
  expect(t->storage, op, ": a tensor inside a transform has no values to read");
}

// The memory of t or, in forward mode, of its primal; a member of a batch has none of its own.
const TensorImpl& memory(const Tensor& t, const char* op) {
  const TensorImpl* m = t->keys & key_lifted ? engine_hooks.memory(*t) : t.get();
  expect(m && m->storage, op, ": a tensor inside vmap has no values to read: each member of the batch has its own");
  expect_strided(*m, op);
  return *m;
}

// The values where the CPU can read them.
Tensor on_host(const TensorImpl& t) { return to_device(alias_of(Tensor(const_cast<TensorImpl*>(&t))), {}); }

void bind_layout(const Methods& t) {
  t.def("size", [](const Tensor& x, std::optional<int64_t> dim) -> nb::object {
    if (!dim) return nb::steal(size_object(x.sizes()));
    expect(x.dim() > 0, ErrorKind::index, "Dimension specified as ", *dim, " but tensor has no dimensions");
    return nb::int_(x.size(wrap_dim(*dim, x.dim(), "size")));
  }, "dim"_a = nb::none());
  t.def("stride", [](const Tensor& x, std::optional<int64_t> dim) -> nb::object {
    expect(!dim || x.dim(), ErrorKind::index, "stride: Dimension specified as ", dim.value_or(0), " but tensor has no dimensions");
    if (dim) return nb::int_(x->strides[wrap_dim(*dim, x.dim(), "stride")]);
    nb::list l;
    for (int64_t s : x->strides) l.append(s);
    return nb::tuple(l);
  }, "dim"_a = nb::none());
  for (const char* name : {"dim", "ndimension"}) t.def(name, [](const Tensor& x) { return x.dim(); });
  for (const char* name : {"numel", "nelement"}) t.def(name, [](const Tensor& x) { return x.numel(); });
  t.def("element_size", [](const Tensor& x) { return itemsize(x.dtype()); });
  t.def("storage_offset", [](const Tensor& x) { return memory(x, "storage_offset").offset(); });
  t.def("data_ptr", [](const Tensor& x) { const TensorImpl& t = memory(x, "data_ptr"); return reinterpret_cast<uintptr_t>(t.numel ? t.data : nullptr); });
  t.def("is_contiguous", [](const Tensor& x, MemoryFormat format) { return is_in(x, format); }, "memory_format"_a = MemoryFormat::contiguous);
  t.def("is_set_to", [](const Tensor& x, const Tensor& y) { return x->data == y->data && x.sizes() == y.sizes() && x->strides == y->strides; }, "tensor"_a);
  t.def("_storage_ptr", [](const Tensor& x) { return reinterpret_cast<uintptr_t>(x->storage); }, "Identifies the memory that views share.");
  t.def("_storage_nbytes", [](const Tensor& x) { return memory(x, "_storage_nbytes").storage->nbytes; });
  t.def("get_device", [](const Tensor& x) { return x.device().type == DeviceType::cpu ? -1 : x.device().index; });
}

void bind_queries(nb::module_& m) {
  both(m, "is_floating_point", [](const Tensor& x) { return is_floating(x.dtype()); });
  both(m, "is_complex", [](const Tensor& x) { return is_complex(x.dtype()); });
  both(m, "is_signed", [](const Tensor& x) { return x.dtype() != DType::bool_ && (x.dtype() < DType::uint8 || x.dtype() > DType::uint64); });
  both(m, "is_same_size", [](const Tensor& x, const Tensor& y) { return x.sizes() == y.sizes(); }, "other"_a);
  both(m, "is_nonzero", is_nonzero);
  for (const char* name : {"is_conj", "is_neg"}) both(m, name, [](const Tensor&) { return false; });
  function(m, "is_tensor", [](nb::handle o) {   // as isinstance: what says that it is one, too
    return is_tensor(o.ptr()) || nb::isinstance(o, nb::handle(reinterpret_cast<PyObject*>(api->tensor_type)));
  }, "obj"_a.none());
  function(m, "numel", [](const Tensor& x) { return x.numel(); }, "input"_a);
}

void bind_values(const Methods& t) {
  t.def("item", read_item, "The value of a one-element tensor, as a Python number.");
  t.def("tolist", [](const Tensor& x) { const Tensor t = on_host(memory(x, "tolist")); return list_of(t->data, *t, 0); }, "Nested lists of Python numbers.");
  t.def("__complex__", [](const Tensor& x) { warn_of_number(x); const auto z = read_item(x).to<Complex<double>>(); return nb::steal(PyComplex_FromDoubles(z.re, z.im)); });
}

// In PyTorch a strided tensor counts as contiguous here unless its channels are last.
bool keeps(const Tensor& x, MemoryFormat format) {
  if (format == MemoryFormat::preserve) return true;
  if (format != MemoryFormat::contiguous) return has_strides_of(x, format);
  return x->contiguous() || !(is_in(x, MemoryFormat::channels_last) || is_in(x, MemoryFormat::channels_last_3d));
}

Tensor converted(const Tensor& x, std::optional<DType> dtype, bool copy, MemoryFormat format = MemoryFormat::preserve, std::optional<Device> device = {}, bool non_blocking = false) {
  if (device && (device = cuda::resolved(*device)) != x.device()) {   // the type changes where the CPU is
    const bool first = dtype && x.device().type == DeviceType::cpu;
    if (first) warn_of_cast(x.dtype(), *dtype);
    const Tensor y = to_device(first ? to_dtype(x, *dtype) : x, *device, non_blocking);
    return converted(y, dtype, false, format);
  }
  const bool other_type = dtype && *dtype != x.dtype();
  if (!other_type && !copy && keeps(x, format)) return x;
  if (!other_type) return copy_in(x, format);
  warn_of_cast(x.dtype(), *dtype);
  const Tensor y = to_dtype(x, *dtype);
  const bool kept = format == MemoryFormat::contiguous ? y->contiguous() : keeps(y, format);
  return kept ? y : copy_in(y, format);
}

// to(dtype), to(device), to(device, dtype), to(other).
Tensor to(const Tensor& x, const nb::args& args, const nb::kwargs& kwargs) {
  std::optional<DType> dtype;
  std::optional<Device> target;
  bool copy = false, non_blocking = false;
  MemoryFormat format = MemoryFormat::preserve;
  int flags = 0;  // positional booleans: non_blocking, copy
  auto take = [&](nb::handle v) {
    DType d;
    Device device;
    if (v.is_none()) return;
    if (is_tensor(v.ptr())) { dtype = impl_of(v.ptr())->dtype; target = impl_of(v.ptr())->device; }
    else if (PyBool_Check(v.ptr())) (flags++ == 1 ? copy : non_blocking) = nb::cast<bool>(v);
    else if (to_dtype(v.ptr(), d)) dtype = d;
    else if (names_device(v.ptr())) target = required_device(v.ptr());
    else if (to_device(v.ptr(), device)) target = device;
    else fail(ErrorKind::type, "to: expected a dtype, a device or a tensor, got ", nb::repr(v).c_str());
  };
  for (nb::handle v : args) take(v);
  for (auto [key, v] : kwargs) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "copy") copy = nb::cast<bool>(v);
    else if (name == "dtype" || name == "device" || name == "other") take(v);
    else if (name == "memory_format") { if (!v.is_none()) format = nb::cast<MemoryFormat>(v); }
    else if (name == "non_blocking") non_blocking = nb::cast<bool>(v);
    else fail(ErrorKind::type, "to: got an unexpected keyword argument '", name, "'");
  }
  return converted(x, dtype, copy, format, target, non_blocking);
}

void bind_conversion(nb::module_& m, const Methods& t) {
  t.def("to", &to, "args"_a, "kwargs"_a, "This tensor with another element type, or on another device.");
  constexpr std::pair<const char*, DType> named[] = {
      {"float", DType::float32}, {"double", DType::float64}, {"half", DType::float16}, {"bfloat16", DType::bfloat16}, {"long", DType::int64}, {"int", DType::int32}, {"short", DType::int16},
      {"char", DType::int8}, {"byte", DType::uint8}, {"bool", DType::bool_}, {"cfloat", DType::complex64}, {"cdouble", DType::complex128}};
  for (auto [name, dtype] : named) t.def(name, [dtype = dtype](const Tensor& x, MemoryFormat format) { return converted(x, dtype, false, format); }, "memory_format"_a = MemoryFormat::preserve);
  t.def("cpu", [](const Tensor& x, bool non_blocking) { return to_device(x, {}, non_blocking); }, "non_blocking"_a = false, "This tensor in host memory.");
  for (const char* name : {"resolve_conj", "resolve_neg"}) t.def(name, [](const Tensor& x) { return x; });
  t.def("type_as", [](const Tensor& x, const Tensor& y) { return converted(x, y.dtype(), false, MemoryFormat::preserve, y.device()); }, "other"_a);
  for (const char* name : {"resolve_conj", "resolve_neg"}) function(m, name, [](const Tensor& x) { return x; }, "input"_a);
  both(m, "clone", [](const Tensor& x, std::optional<MemoryFormat> format) { return copy_in(x, format.value_or(MemoryFormat::preserve)); }, nb::kw_only(), "memory_format"_a = nb::none());
  direct_both<Tensor>(m, "clone", [](const Tensor& x) { return copy_in(x, MemoryFormat::preserve); });
  t.def("contiguous", [](const Tensor& x, MemoryFormat format) {
    if (format == MemoryFormat::contiguous) return contiguous(x);
    expect(format != MemoryFormat::preserve || x->contiguous(), "preserve memory format is unsupported by the contiguous operator");
    return is_in(x, format) ? x : copy_in(x, format);
  }, "memory_format"_a = MemoryFormat::contiguous);
  function(m, "promote_types", [](DType a, DType b) { return promote(a, b); }, "type1"_a, "type2"_a);
  function(m, "can_cast", [](DType from, DType into) { return category(from) <= category(into); },
        "from_"_a, "to"_a);
}

// Its memory counts writes on its own from here.
void count_from(TensorImpl& x, uint32_t version) {
  Storage* before = x.storage;
  x.storage = sharing(before);
  x.storage->version = version;
  before->dec_ref();
}

// Whether other tensors, arrays or graphs look at its memory too, or others own it: it cannot move.
bool is_shared(const Storage* s) {
  while (s && s->refs == 1 && shared_by(s)) s = shared_by(s);
  return s && (s->refs > 1 || (s->deleter && !cuda::is_pinned(*s)));
}

// How many tensors, arrays and graphs look at its memory.
int64_t users(const Storage* s) {
  int64_t count = 1;
  for (; s; s = shared_by(s)) count += s->refs - 1;
  return count;
}

void bind_writes(const Methods& t) {
  t.def("copy_", [](const Tensor& x, const Tensor& source, bool non_blocking) {
    warn_of_cast(source.dtype(), x.dtype());
    copy_(x, source, non_blocking);
    return x;
  }, "src"_a, "non_blocking"_a = false, "Writes the values of `src` here.");
  t.def("copy_", [](const Tensor& x, const Scalar& source, bool) { copy_(x, wrapped(source)); return x; }, "src"_a, "non_blocking"_a = false);
  t.def("fill_", [](const Tensor& x, const python::Operand& value) {
    expect(value.t.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.t.dim(), " dimensions.");
    expect_number_fits(value.t, filled_by(x.dtype()));
    if (!(value.t->flags & flag_wrapped)) warn_of_cast(value.t.dtype(), x.dtype());
    copy_(x, value.t);
    return x;
  }, "value"_a, "Sets every element.");
  t.def("zero_", [](const Tensor& x) { copy_(x, wrapped(0)); return x; }, "Sets every element to zero.");
  t.def("_set_data", [](const Tensor& x, const Tensor& y, bool keeps_version) {
    for (const Tensor& t : {x, y}) expect(t->storage, "set_data: a tensor inside a transform has no memory to exchange");
    const Tensor old = alias_of(x);
    const bool counts = keeps_version && x->storage && !is_inference(*x);
    const uint32_t version = counts ? x->storage->version : 0;
    const Storage* before = x->storage;
    if (y->storage) y->storage->inc_ref();
    if (x->storage) x->storage->dec_ref();
    x->storage = y->storage;
    x->data = y->data;
    x->sizes = y->sizes;
    x->strides = y->strides;
    x->numel = y->numel;
    x->dtype = y->dtype;
    x->device = y->device;
    y->flags |= flag_detached;
    x->flags = static_cast<uint16_t>((x->flags & ~flag_contiguous) | (y->flags & (flag_contiguous | flag_detached)));
    x->keys = (x->keys & ~key_sparse) | (y->keys & key_sparse);
    x->face = y->face;
    x->birth = std::min(x->birth, y->birth);   // that of the memory
    if (!(x->sizes == old->sizes && x->strides == old->strides && x->dtype == old->dtype && x->device == old->device)) x->form++;   // its views cannot follow it
    if (counts && x->storage && x->storage != before) count_from(*x, version);
    return old;
  }, "source"_a, "keeps_version"_a = false, "Takes over the memory of another tensor, without history, and gives what it was; its writes may go on being counted from where they were.");
  t.def("_memory_is_shared", [](const Tensor& x) { return is_shared(x->storage); });
  t.def("_memory_users", [](const Tensor& x) { return users(x->storage); });
  t.def("_bump_version", [](const Tensor& x) {
    check_inference(*x);
    bump_version(*x);
  }, "Counts a write; an error for an inference tensor outside of inference mode.");
  t.def("_set_version", [](const Tensor& x, uint32_t version) {
    need_memory(x, "set_");
    count_from(*x, version);
  }, "version"_a);
  t.def("_alias", [](const Tensor& x) { expect(x->storage, "_alias: a tensor inside a transform has no values to read"); return alias_of(x); }, "The same memory without history.");
}

}  // namespace

void bind_memory(nb::module_& m) {
  const Methods t;
  bind_memory_format(m);
  bind_layout(t);
  bind_queries(m);
  bind_values(t);
  bind_conversion(m, t);
  bind_writes(t);
}

}  // namespace adjoint::python
