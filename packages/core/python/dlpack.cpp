// DLPack both ways (https://dmlc.github.io/dlpack): memory shared with any array library.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/sparse.h>

#include <algorithm>

#include "module.h"
#include "reference.h"

namespace adjoint::python {

namespace {

struct DLDevice { int32_t type, id; };
struct DLDataType { uint8_t code, bits; uint16_t lanes; };
struct DLTensor { void* data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape, *strides; uint64_t byte_offset; };
struct Managed { DLTensor tensor; void* context; void (*deleter)(Managed*); };
struct Version { uint32_t major, minor; };
struct ManagedVersioned { Version version; void* context; void (*deleter)(ManagedVersioned*); uint64_t flags; DLTensor tensor; };
constexpr uint64_t flag_read_only = 1;
enum TypeCode : uint8_t { code_int = 0, code_uint = 1, code_float = 2, code_bfloat = 4, code_complex = 5, code_bool = 6 };

DLDataType type_of(DType t) {
  const auto bits = static_cast<uint8_t>(itemsize(t) * 8);
  if (t == DType::bool_) return {code_bool, bits, 1};
  if (t == DType::bfloat16) return {code_bfloat, bits, 1};
  if (is_complex(t)) return {code_complex, bits, 1};
  if (is_floating(t)) return {code_float, bits, 1};
  return {static_cast<uint8_t>(t >= DType::uint8 && t <= DType::uint64 ? code_uint : code_int), bits, 1};
}

DType type_from(const DLDataType& d) {
  for (int i = 0; i < dtype_count; i++) {
    const DLDataType t = type_of(static_cast<DType>(i));
    if (t.code == d.code && t.bits == d.bits && d.lanes == 1) return static_cast<DType>(i);
  }
  fail(ErrorKind::runtime, "from_dlpack: unsupported element type (code ", int(d.code), ", ", int(d.bits), " bits)");
}

enum DeviceKind : int32_t { kind_cpu = 1, kind_cuda = 2, kind_pinned = 3 };
DLDevice device_of(const Tensor& t) {
  if (t.device().type == DeviceType::cuda) return {kind_cuda, t.device().index};
  return {t->storage && cuda::is_pinned(*t->storage) ? kind_pinned : kind_cpu, 0};
}

DLTensor dl_tensor(const Tensor& t) { return {t->data, device_of(t), t.dim(), type_of(t.dtype()), t->sizes.data(), t->strides.data(), 0}; }

// The exported block keeps the memory through a tensor of its own: t may exchange its memory for another.
template <class M> nb::object export_as(const Tensor& t, const char* name) {
  auto* block = new M{};
  auto* own = new Tensor(alias_of(t));
  block->tensor = dl_tensor(*own);
  block->context = own;
  block->deleter = [](M* m) { delete static_cast<Tensor*>(m->context); delete m; };
  if constexpr (std::is_same_v<M, ManagedVersioned>) block->version = {1, 0};
  return nb::steal(PyCapsule_New(block, name, [](PyObject* capsule) {
    const char* current = PyCapsule_GetName(capsule);
    if (!current || std::strncmp(current, "dltensor", 8) != 0) return;  // used: the consumer deletes it
    auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, current));
    m->deleter(m);
  }));
}

// Work that the consumer puts on its stream runs after ours. Its stream: None or 1 the default one, 2 the thread's, -1 needs no order.
void order(const Tensor& x, nb::handle consumer) {
  expect_memory(*x, "__dlpack__");
  if (x.device().type != DeviceType::cuda) {
    expect(consumer.is_none(), ErrorKind::value, "__dlpack__: stream must be None for a tensor of the CPU");
    return;
  }
  int64_t handle = 1;
  expect(consumer.is_none() || nb::try_cast(consumer, handle), ErrorKind::type, "__dlpack__: stream must be an int or None, got ", nb::repr(consumer).c_str());
  expect(handle >= -1 && handle != 0, ErrorKind::value, "__dlpack__: unsupported stream ", handle);
  const cuda::Stream ours = cuda::current_stream(x.device().index);
  const cuda::Stream theirs{handle == 1 ? nullptr : reinterpret_cast<cuda::StreamHandle>(handle), x.device().index};
  if (handle == -1 || ours == theirs) return;
  cuda::Event event;
  event.record(ours);
  event.wait(theirs);
  cuda::note_use(*x, theirs);
}

nb::object to_capsule(const Tensor& given, nb::handle stream, nb::handle max_version, nb::handle device, std::optional<bool> copy) {
  Tensor x = given;
  expect_strided(*x, "__dlpack__");
  expect(x->storage, ErrorKind::runtime, "__dlpack__: a tensor inside a transform has no memory of its own");
  nb::object self = nb::steal(wrap(x));
  expect(!nb::hasattr(self, "requires_grad") || !nb::cast<bool>(self.attr("requires_grad")), "Can't export tensors that require gradient, use tensor.detach()");
  if (!device.is_none() && nb::cast<int>(device[0]) != device_of(x).type) {
    expect(nb::cast<int>(device[0]) == kind_cpu && copy.value_or(true), nb::cast<int>(device[0]) == kind_cpu ? ErrorKind::value : ErrorKind::runtime, "__dlpack__: cannot export a tensor of ", x.device(), " as one of device type ", nb::cast<int>(device[0]));
    x = to_device(alias_of(x), {});
  } else {
    order(x, stream);
  }
  const Tensor t = copy.value_or(false) && x.is(given) ? clone_memory(x) : x;
  const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  return versioned ? export_as<ManagedVersioned>(t, "dltensor_versioned") : export_as<Managed>(t, "dltensor");
}

template <class M> Tensor import_from(PyObject* capsule, const char* name, const char* used) {
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (!m) throw nb::python_error();
  const DLTensor& d = m->tensor;
  expect(d.device.type >= kind_cpu && d.device.type <= kind_pinned, ErrorKind::value, "from_dlpack: only memory of the CPU and of CUDA devices can be imported, got device type ", d.device.type);
  const Device device = d.device.type == kind_cuda ? cuda::resolved({DeviceType::cuda, static_cast<int8_t>(std::clamp(d.device.id, 0, 127))}) : Device{};
  if constexpr (std::is_same_v<M, ManagedVersioned>) expect(!(m->flags & flag_read_only), ErrorKind::value, "from_dlpack: the memory is read-only; copy it first");
  expect(d.ndim >= 0 && d.ndim <= Dims::max, ErrorKind::value, "from_dlpack: tensors have at most ", Dims::max, " dimensions, got ", d.ndim);
  for (int i = 0; i < d.ndim; i++) expect(d.shape[i] >= 0, ErrorKind::value, "from_dlpack: sizes must not be negative, got ", d.shape[i]);
  Tensor t = Tensor::take(TensorImpl::make());
  t->dtype = type_from(d.dtype);
  t->sizes = Dims(std::span<const int64_t>(d.shape, static_cast<size_t>(d.ndim)));
  t->set_contiguous_strides();
  int64_t reach = 0;
  if (d.strides) {
    for (int i = 0; i < d.ndim; i++) {
      expect(d.strides[i] >= 0, ErrorKind::value, "from_dlpack: negative strides are not supported");
      t->strides[i] = d.strides[i];
    }
    t->update_layout();
  }
  for (int i = 0; i < d.ndim; i++) reach += (d.shape[i] - 1) * t->strides[i];
  t->data = static_cast<char*>(d.data) + d.byte_offset;
  t->device = device;
  t->storage = Storage::borrow(t->data, t->numel ? static_cast<size_t>((reach + 1) * itemsize(t->dtype)) : 0, [](void* context) noexcept {
    auto* block = static_cast<M*>(context);
    if (block->deleter) block->deleter(block);
  }, m, device);
  PyCapsule_SetName(capsule, used);
  return t;
}

// What `source` gives: a capsule, if it is none itself.
nb::object capsule_of(nb::object source) {
  nb::object capsule = source;
  if (nb::hasattr(source, "__dlpack__")) {
    nb::dict options;
    options["max_version"] = nb::make_tuple(1, 0);
    if (nb::hasattr(source, "__dlpack_device__")) {
      const auto device = nb::cast<nb::tuple>(source.attr("__dlpack_device__")());
      expect(nb::len(device) == 2, ErrorKind::value, "from_dlpack: __dlpack_device__ must give a type and a number, got ", nb::repr(device).c_str());
      if (nb::cast<int>(device[0]) == kind_cuda) {
        const auto handle = reinterpret_cast<int64_t>(cuda::current_stream(cuda::resolved({DeviceType::cuda, static_cast<int8_t>(std::clamp(nb::cast<int64_t>(device[1]), int64_t(0), int64_t(127)))}).index).handle);
        options["stream"] = handle ? handle : 1;
      }
    }
    try { capsule = source.attr("__dlpack__")(**options); }
    catch (nb::python_error& e) {
      if (!e.matches(PyExc_TypeError)) throw;
      capsule = source.attr("__dlpack__")();  // a producer from before versions
    }
  }
  return capsule;
}

Tensor imported(const nb::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) return import_from<ManagedVersioned>(capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned");
  return import_from<Managed>(capsule.ptr(), "dltensor", "used_dltensor");
}

Tensor from_dlpack(nb::object source, std::optional<Device> device, std::optional<bool> copy) {
  const Tensor x = imported(capsule_of(std::move(source)));
  const Device target = device ? cuda::resolved(*device) : x.device();
  if (target == x.device()) return copy.value_or(false) ? clone_memory(x) : x;
  expect(copy.value_or(true), ErrorKind::value, "from_dlpack: cannot move a tensor from ", x.device(), " to ", target, " without copying, got copy=False");
  return to_device(x, target);
}

}  // namespace

void bind_dlpack(nb::module_& m) {
  const Methods t;
  t.def("__dlpack__", &to_capsule,
        nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none());
  t.def("__dlpack_device__", [](const Tensor& x) { const DLDevice d = device_of(x); return nb::make_tuple(d.type, d.id); });
  m.def("from_dlpack", &from_dlpack, "ext_tensor"_a, nb::kw_only(), "device"_a = nb::none(), "copy"_a = nb::none(),
        "A tensor that shares the memory of `ext_tensor`; a copy with `copy=True`, or where it lives on another device than `device`.");
}

}  // namespace adjoint::python
