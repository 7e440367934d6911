// The single door of every op, and what happens behind it when no level and no tape is involved.
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/history.h>
#include <adjoint/core/in_float.h>
#include <adjoint/core/inference.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/passing_views.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>
#include <adjoint/core/without_gil.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "views.h"
#include "watched_here.h"

namespace adjoint {

EngineHooks engine_hooks;
constinit thread_local bool PassingViews::here = false;
constinit thread_local bool InFloat::here = false;

bool InFloat::serves(Tensors x) noexcept {
  uint32_t keys = 0;
  bool on_cpu = true;
  for (const Tensor& t : x)
    if (t) keys |= t->keys, on_cpu = on_cpu && t.device().type == DeviceType::cpu;
  if (!on_cpu || watched_here() || keys & ~uint32_t(key_tape | key_view)) return false;
  return !keys || !history_is_kept();
}

namespace {

inline void enter(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  uint32_t keys = op.alias && !PassingViews::here ? uint32_t(key_view) : 0;
  for (const Tensor& t : x) keys |= t->keys;
  if (keys && engine_hooks.apply) return engine_hooks.apply(op, x, attrs, y);
  run(op, x, attrs, y);
}

inline void enter_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs) {
  if (engine_hooks.apply_inplace) return engine_hooks.apply_inplace(op, self, others, attrs);
  run_inplace(op, self, others, attrs);
}

[[gnu::noinline]] void enter_watched(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  Watch watch({Span::Kind::op, x, &op, &attrs});
  if (watch.supplied(y)) return watch.end({y, static_cast<size_t>(op.outputs)});
  if (engine_hooks.apply) engine_hooks.apply(op, x, attrs, y);
  else run(op, x, attrs, y);
  watch.end({y, static_cast<size_t>(op.outputs)});
}

[[gnu::noinline]] void enter_inplace_watched(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs) {
  TensorVector x{self};
  for (const Tensor& t : others) x.push_back(t);
  Watch watch({Span::Kind::in_place, x, &op, &attrs});
  enter_inplace(op, self, others, attrs);
  watch.end({&self, 1});
}

}  // namespace

void apply(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  if (watched_here()) return enter_watched(op, x, attrs, y);
  enter(op, x, attrs, y);
}

namespace {
thread_local const TensorImpl* updating = nullptr;
}
Updating::Updating(const Tensor& x) noexcept : outer_(std::exchange(updating, x.get())) {}
Updating::~Updating() { updating = outer_; }

Tensor update(const Op& op, const Tensor& x, Tensors others, const Attrs& attrs) {
  if (x.get() == updating) {
    updating = nullptr;
    apply_inplace(op, x, others, attrs);
    return x;
  }
  TensorVector all{x};
  for (const Tensor& t : others) all.push_back(t);
  Tensor y[max_outputs];
  apply(op, all, attrs, y);
  return std::move(y[0]);
}

void apply_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs) {
  if (watched_here()) return enter_inplace_watched(op, self, others, attrs);
  enter_inplace(op, self, others, attrs);
}

namespace {

constexpr int64_t release_gil_above = 1 << 16;  // elements: below, handing the lock over costs more than it gives

// While a kernel runs without the interpreter's lock, another thread may give its operands other memory (x.data = y,
// x.resize_()): large calls hold on to what they see now.
Tensors pinned(Tensors x, int64_t written, TensorVector& own) {
  int64_t work = written;
  for (const Tensor& t : x) work += t->numel;
  if (work <= release_gil_above) [[likely]] return x;
  own.reserve(x.size());
  for (const Tensor& t : x) {
    own.push_back(alias_of(t));
    own.back()->flags = t->flags;
  }
  return own;
}

bool is_position(const Op& op, size_t i) { return i < 32 && op.indices >> i & 1; }   // lists may be longer
// As the kernel sees one value on the host.
DType number_type(const Op& op, DType compute) { return op.keeps_numbers && is_half(compute) ? DType::float32 : compute; }

// The operands of one launch, in the form a kernel wants: one compute type, expanded to the output where elementwise.
class Operands {
 public:
  Operands(size_t n, Device device) : device_(device), count_(n) {
    if (n > inline_count) heap_ = std::make_unique<Slot[]>(n), views_heap_.resize(n);
  }
  // halves: float may be computed of half types as they are.
  void set_all(const Op& op, Tensors x, DType compute, const Dims* expanded, bool halves = false) {
    halves_ = halves && compute == DType::float32;
    for (size_t i = 0; i < x.size(); i++) set(i, x[i], is_position(op, i) ? x[i].dtype() : compute, number_type(op, compute), expanded);
  }
  View* data() { return heap_ ? views_heap_.data() : views_; }
  std::span<const View> views() { return {data(), count_}; }
  uint32_t numbers() const { return numbers_; }   // values on the host in a call on another device

 private:
  static constexpr size_t inline_count = 4;
  struct Slot { Tensor copy; Dims strides; alignas(16) char value[16]; };

  // dtype: as the kernel sees the operand; number: if it is one value on the host.
  void set(size_t i, const Tensor& x, DType dtype, DType number, const Dims* expanded) {
    Slot& s = heap_ ? heap_[i] : slots_[i];
    View& v = data()[i];
    const TensorImpl* t = x.get();
    v = {t->data, t->sizes.data(), t->strides.data(), t->ndim(), t->dtype, t->numel};
    const bool on_host = t->device.type == DeviceType::cpu;
    if (on_host && device_.type != DeviceType::cpu) {
      if (t->ndim() == 0) numbers_ |= 1u << i;
      else {   // positions
        s.copy = to_device(x, device_);
        v.data = s.copy->data;
        v.strides = s.copy->strides.data();
      }
    }
    if (t->dtype != dtype && !(halves_ && is_half(t->dtype) && t->numel > 1)) {
      if (t->numel == 1 && on_host) cast_one(s, v, number);
      else {
        s.copy = cast_memory(x, dtype);
        v = {s.copy->data, s.copy->sizes.data(), s.copy->strides.data(), s.copy->ndim(), dtype, s.copy->numel};
      }
    }
    if (expanded && !std::equal(v.sizes, v.sizes + v.ndim, expanded->begin(), expanded->end())) expand(s, v, *expanded);
  }
  static void cast_one(Slot& s, View& v, DType dtype) {
    with_type(v.dtype, [&](auto from) {
      with_type(dtype, [&](auto to) {
        using To = typename decltype(to)::type;
        *reinterpret_cast<To*>(s.value) = convert<To>(*v.as<typename decltype(from)::type>());
      });
    });
    v.data = s.value;
    v.dtype = dtype;
  }
  static void expand(Slot& s, View& v, const Dims& sizes) {
    const int n = sizes.size();
    Dims strides(n, 0);
    for (int i = 0; i < v.ndim; i++)
      if (v.sizes[i] != 1) strides[n - v.ndim + i] = v.strides[i];
    s.strides = std::move(strides);
    v.sizes = sizes.data();
    v.strides = s.strides.data();
    v.ndim = n;
    v.numel = sizes.product();
  }

  Device device_;
  uint32_t numbers_ = 0;
  bool halves_ = false;
  size_t count_;
  Slot slots_[inline_count];
  View views_[inline_count];
  std::unique_ptr<Slot[]> heap_;
  std::vector<View> views_heap_;
};

Dims broadcast_all(const Op& op, Tensors x) {
  Dims s = x[0].sizes();
  for (size_t i = 1; i < x.size(); i++)
    if (!(x[i].sizes() == s)) s = broadcast(s, x[i].sizes(), op.name);
  return s;
}

// An elementwise result is laid out like its first full-shape operand, if that fills its memory without gaps.
void follow_layout(Tensors x, TensorImpl& y) {
  for (const Tensor& t : x) {
    if (!(t.sizes() == y.sizes)) continue;
    if (t->contiguous() || overlaps_itself(*t)) return;
    const Dims order = order_by_strides(t->strides.data(), y.ndim());
    int64_t step = 1;
    for (int k = y.ndim(); k-- > 0;) {
      const int d = static_cast<int>(order[k]);
      y.strides[d] = step;
      step *= std::max<int64_t>(y.sizes[d], 1);
    }
    y.update_layout();
    return;
  }
}

}  // namespace

Device common_device(const Op& op, Tensors x) {
  Device d = x[0].device();
  for (size_t i = 1; i < x.size(); i++) {
    const Tensor& t = x[i];
    if (t.device() == d || (is_position(op, i) && t.device().type == DeviceType::cpu)) continue;   // positions may come from the CPU
    if (x[0].dim() == 0 && d.type == DeviceType::cpu) { d = t.device(); continue; }
    expect(t.dim() == 0 && t.device().type == DeviceType::cpu, op.name, ": Expected all tensors to be on the same device, but found at least two devices, ", d, " and ", t.device());
  }
  return d;
}

namespace {

Kernel kernel_of(const Op& op, Device device) {
  Kernel k = op.kernel[static_cast<int>(device.type)];
  if (!k) [[unlikely]] {
    if (device.type == DeviceType::meta) return [](const Launch&) {};
    k = device.type == DeviceType::cpu ? op.reference : cuda::find_kernel(op);
  }
  expect(k, ErrorKind::not_implemented, op.name, ": no kernel for device ", device);
  return k;
}

void launch(const Op& op, Device device, std::span<const View> x, std::span<const View> y, const Attrs& attrs, Tensors operands, uint32_t numbers = 0) {
  const Kernel k = kernel_of(op, device);
  int64_t work = 0;
  for (const View& v : y) work += v.numel;
  if (work == 0) return;   // nothing to write, however many empty lines there are
  if (device.type != DeviceType::cpu) {
    if (device.type == DeviceType::cuda) cuda::begin_call(device, operands);
    return k({x, y, attrs, op.name, false, device, numbers});
  }
  for (const View& v : x) work += v.numel;
  WithoutGil free(work > release_gil_above);
  k({x, y, attrs, op.name});
}

const int64_t zero_strides[Dims::max] = {};

// The common small call: operands of one type and shape without gaps, and Python numbers, which are cast on the stack.
// Gives up (false) on everything else: promotion, broadcasting, other layouts.
// The result is made, unless `y` is given: then it is x[0], is written to, and must have the type and the shape of the result.
bool run_dense(const Op& op, Tensors x, const Attrs& attrs, Tensor& y) {
  constexpr size_t most = 3;
  if (op.shape || op.indices || x.size() > most) return false;
  const TensorImpl* lead = x[0]->flags & flag_wrapped ? x.back().get() : x[0].get();
  for (const Tensor& t : x) {
    if (t->flags & flag_wrapped) continue;
    if (!(t->flags & flag_contiguous) || t->dtype != lead->dtype || t->device != lead->device || !(t->sizes == lead->sizes)) return false;
  }
  const Types types = op.types(x, attrs);
  if (types.compute != lead->dtype || lead->flags & flag_wrapped) return false;
  if (y && (types.out[0] != y->dtype || !(y->flags & flag_contiguous) || !(y->sizes == lead->sizes) || y->device != lead->device)) return false;
  TensorVector own;
  if (lead->numel > release_gil_above / 4) x = pinned(x, lead->numel, own);
  const bool given = static_cast<bool>(y);
  if (!given) y = empty_dense(*lead, types.out[0]);
  const TensorImpl& out = given ? *x[0] : *y;   // x[0] is y, pinned
  View v[most];
  alignas(16) char number[most][16];
  uint32_t numbers = 0;
  for (size_t i = 0; i < x.size(); i++) {
    v[i] = {x[i]->data, out.sizes.data(), out.strides.data(), out.ndim(), lead->dtype, out.numel};
    if (!(x[i]->flags & flag_wrapped)) continue;
    v[i].dtype = number_type(op, lead->dtype);
    with_type(v[i].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *reinterpret_cast<T*>(number[i]) = item(x[i]).to<T>();
    });
    v[i].data = number[i];
    v[i].strides = zero_strides;
    numbers |= 1u << i;
  }
  const View result{out.data, out.sizes.data(), out.strides.data(), out.ndim(), out.dtype, out.numel};
  const Kernel k = kernel_of(op, lead->device);
  if (lead->device.type == DeviceType::cuda) [[unlikely]] cuda::begin_call(lead->device, x);
  WithoutGil free(out.numel > release_gil_above / 2);
  k({{v, x.size()}, {&result, 1}, attrs, op.name, true, lead->device, numbers});
  return true;
}

}  // namespace

void follow_layout(const Tensor& like, TensorImpl& y) { follow_layout({&like, 1}, y); }

Tensor cast_memory(const Tensor& given, DType dtype) {
  TensorVector own;
  const Tensor& x = pinned({&given, 1}, given.numel(), own)[0];
  Tensor y = empty(x.sizes(), dtype, x.device());
  follow_layout({&x, 1}, *y);
  const View in = view_of(*x), out = view_of(*y);
  launch(op_to_dtype, x.device(), {&in, 1}, {&out, 1}, {}, {&x, 1});
  return y;
}

namespace {

bool has_half(Tensors x) {
  return std::any_of(x.begin(), x.end(), [](const Tensor& t) { return is_half(t.dtype()); });
}
Types widened(Types t) {
  for (DType* d : {&t.compute, &t.out[0], &t.out[1], &t.out[2]})
    if (is_half(*d)) *d = DType::float32;
  return t;
}
// For InFloat, what reads no halves: float copies of them.
TensorVector without_halves(const Op& op, Tensors x) {
  TensorVector wide;
  for (size_t i = 0; i < x.size(); i++) wide.push_back(is_half(x[i].dtype()) && !is_position(op, i) ? cast_memory(x[i], DType::float32) : x[i]);
  return wide;
}

// Any operands: promotion, broadcasting, all layouts.
[[gnu::noinline]] void run_any(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  if (op.make) return op.make(x, attrs, y);
  if (!op.reference || any_sparse(x)) return run_sparse(op, x, attrs, y);
  const Device device = common_device(op, x);
  const bool in_float = InFloat::here;
  const Types t = in_float ? widened(op.types(x, attrs)) : op.types(x, attrs);
  Dims shape[max_outputs];
  if (op.shape) op.shape(x, attrs, shape);
  else shape[0] = broadcast_all(op, x);
  View out[max_outputs];
  int64_t written = 0;
  for (int i = 0; i < op.outputs; i++) {
    y[i] = empty(shape[i], t.out[i], device);
    if (!op.shape) follow_layout(x, *y[i]);
    out[i] = view_of(*y[i]);
    written += y[i].numel();
  }
  TensorVector own;
  x = pinned(x, written, own);
  Operands in(x.size(), device);
  in.set_all(op, x, t.compute, op.shape ? nullptr : &shape[0], in_float);
  launch(op, device, in.views(), {out, static_cast<size_t>(op.outputs)}, attrs, x, in.numbers());
  if (!op.shape && numbers_only(x)) y[0]->flags |= flag_wrapped;
}

}  // namespace

void run(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  if (op.alias) {
    if (x[0]->keys & key_sparse) [[unlikely]] return run_sparse(op, x, attrs, y);
    y[0] = alias_of(x[0]);
    op.alias(*x[0], attrs, *y[0]);
    y[0]->update_layout();
    return;
  }
  y[0] = {};
  if (InFloat::here && (has_half(x) || &op == &op_to_dtype)) [[unlikely]] {   // a cast to a half type is one to float, too
    const bool elementwise = !op.shape, product = op.kind == Kind::multilinear && x[0].dtype() == x[1].dtype();
    const bool reads_halves = &op == &op_to_dtype || (op.reads_halves && (elementwise || product) && !op.indices && is_floating(op.types(x, attrs).out[0]));
    return reads_halves ? run_any(op, x, attrs, y) : run(op, without_halves(op, x), attrs, y);
  }
  if (!run_dense(op, x, attrs, y[0])) run_any(op, x, attrs, y);
}

namespace {

bool share_memory(const TensorImpl& a, const TensorImpl& b) { return a.storage == b.storage; }
bool same_memory(const TensorImpl& a, const TensorImpl& b) { return a.data == b.data && a.sizes == b.sizes && a.strides == b.strides; }

}  // namespace

void run_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs) {
  if (others.size() == 1 && (!share_memory(*others[0], *self) || same_memory(*others[0], *self))) {
    TensorImpl* const x[] = {self.get(), others[0].get()};
    Tensor y = self;
    if (run_dense(op, {reinterpret_cast<const Tensor*>(x), 2}, attrs, y)) return bump_version(*self);
  }
  if (self->keys & key_sparse) return run_sparse_inplace(op, self, others, attrs);
  const bool same_value = &op == &op_copy && others[0]->numel == 1;   // in all elements, be they one in memory or several
  static const Op* const index_put = find_op("index_put");   // which writes one position after the other: what it writes last stays
  expect(same_value || &op == index_put || !overlaps_itself(*self), op.name, "_: unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
         "Please clone() the tensor before performing the operation.");
  TensorVector operands{self}, own;
  for (const Tensor& t : others) operands.push_back(share_memory(*t, *self) && (op.updates || !same_memory(*t, *self)) ? clone_memory(t) : t);
  const Tensors x = pinned(operands, self.numel(), own);
  const Device device = common_device(op, x);
  expect(device == self.device(), op.name, "_: Expected all tensors to be on the same device, but found at least two devices, ", self.device(), " and ", device);
  const Types t = op.types(x, attrs);
  Dims shape[max_outputs];
  if (op.shape) op.shape(x, attrs, shape);
  else shape[0] = broadcast_all(op, x);
  expect(shape[0] == self.sizes(), ErrorKind::shape, op.name, "_: output with shape ", self.sizes(), " doesn't match the broadcast shape ", shape[0]);
  expect(category(t.out[0]) <= category(self.dtype()), op.name, "_: result type ", t.out[0], " can't be cast to the desired output type ", self.dtype());
  const bool updates = op.updates && device.type == DeviceType::cpu;
  const bool direct = (!op.shape || updates) && t.out[0] == self.dtype() && !any_sparse(x);
  if (direct) {
    View out = view_of(*x[0]);
    Operands in(x.size(), device);
    in.set_all(op, x, t.compute, updates ? nullptr : &shape[0]);
    launch(op, device, in.views(), {&out, 1}, attrs, x, in.numbers());
  } else {
    Tensor y[max_outputs];
    run(op, x, attrs, y);
    y[0] = to_dense(y[0]);
    const View out = view_of(*x[0]);
    Operands in(1, device);
    in.set_all(op_to_dtype, {y, 1}, y[0].dtype(), &shape[0]);   // a sparse operand's result has its own shape
    launch(op_to_dtype, device, in.views(), {&out, 1}, {}, {{self, y[0]}});
  }
  bump_version(*self);
}

Tensor clone_memory(const Tensor& x) { return cast_memory(x, x.dtype()); }

void bump_version(TensorImpl& x) {
  if (!x.storage || is_inference(x)) return;
  x.storage->version++;
  if (python_hooks.site) x.storage->site = python_hooks.site();
}

}  // namespace adjoint
