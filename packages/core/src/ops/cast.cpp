// Copies: to another type, to fresh memory, into existing memory.
#include <adjoint/core/batch.h>
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/elementwise.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include <cstring>
#include <list>
#include <vector>

#include "families.h"
#include "wide.h"

namespace adjoint {

namespace {

void copy_elements(const View& y, const View& x) {
  const View* const v[] = {&y, &x};
  with_bytes(itemsize(y.dtype), [&](auto zero) {
    using U = decltype(zero);
    for_rows(v, [](char* const* p, const int64_t* s, int64_t n) {
      if (s[0] == sizeof(U) && s[1] == sizeof(U)) return static_cast<void>(std::memmove(p[0], p[1], n * sizeof(U)));
      for (int64_t i = 0; i < n; i++) std::memcpy(p[0] + i * s[0], p[1] + i * s[1], sizeof(U));
    });
  });
}

void cast_kernel(const Launch& l) {
  const DType from = l.x[0].dtype, to = l.y[0].dtype;
  if (from == to) return copy_elements(l.y[0], l.x[0]);
  detail::with_wide_type(from, [&](auto wide) {   // any type to any type, by way of those that are computed in
    detail::with_wide_type(to, [&](auto result) {
      using From = typename decltype(wide)::type;
      using To = typename decltype(result)::type;
      const detail::DenseLoop loop = [](char* y, const char* const* x, const void*, int64_t n) {
        for (int64_t i = 0; i < n; i++) reinterpret_cast<To*>(y)[i] = convert<To>(reinterpret_cast<const From*>(x[0])[i]);
      };
      detail::run_wide<1>(l, loop, nullptr);
    });
  });
}

void copy_kernel(const Launch& l) { cast_kernel({l.x.subspan(1), l.y, l.attrs, l.op}); }

// An operand in row-major memory of its wide type, if that is another.
class Widened {
 public:
  View view;
  Widened(const View& v, bool is_input) : view(v) {
    const DType type = detail::wide_type(v.dtype);
    if (type == v.dtype) return;
    memory_.resize(static_cast<size_t>(v.numel * itemsize(type)));
    strides_ = contiguous_strides(Dims(std::span(v.sizes, static_cast<size_t>(v.ndim))));
    view = {memory_.data(), v.sizes, strides_.data(), v.ndim, type, v.numel};
    if (is_input) cast_elements(view, v);
  }

 private:
  std::vector<char> memory_;
  Dims strides_;
};

}  // namespace

void cast_elements(const View& y, const View& x) {
  const Kernel own = op_to_dtype.kernel[static_cast<int>(DeviceType::cpu)];
  (own ? own : cast_kernel)({{&x, 1}, {&y, 1}, Attrs{}, op_to_dtype.name});
}

void in_wide_types(const Launch& l, Borrowed<const Launch&> kernel) {
  std::list<Widened> operands;   // which stay where they are
  std::vector<View> x, y;
  for (const View& v : l.x) x.push_back(operands.emplace_back(v, true).view);
  for (const View& v : l.y) y.push_back(operands.emplace_back(v, false).view);
  kernel({x, y, l.attrs, l.op});
  for (size_t k = 0; k < y.size(); k++)
    if (y[k].dtype != l.y[k].dtype) cast_elements(l.y[k], y[k]);
}

// The engine casts a cotangent to the type of its input, so the transpose of a cast is the identity here.
const Op op_to_dtype{.name = "to_dtype", .torch = "ToCopy", .kind = Kind::linear,
    .types = [](Tensors x, const Attrs& a) { return Types{x[0].dtype(), {a.as<Cast>().dtype}}; },
    .d = {rule([](V v) -> Tensor { return v; })},
    .doc = "The elements of `x` converted to another dtype; complex to real takes the real part.", .reference = cast_kernel, .kernel = {nullptr, cuda::copy_kernel}};
Tensor to_dtype(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (x->flags & flag_wrapped && !x->keys && x.device().type == DeviceType::cpu) return full({}, item(x), dtype, {});   // a number: nobody is asked
  const Named named("to", {&x, 1});
  return apply(op_to_dtype, {x}, Cast{dtype});
}

const Op op_clone{.name = "clone", .kind = Kind::linear, .types = types::first,
    .d = {rule([](V v) -> Tensor { return v; })},
    .doc = "A copy of `x` in fresh memory.", .reference = cast_kernel, .kernel = {nullptr, cuda::copy_kernel}};
Tensor clone(const Tensor& x) { return apply(op_clone, {x}); }

const Op op_contiguous{.name = "contiguous", .torch = "Clone", .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v) -> Tensor { return v; })}, .batch = batch::leading,
    .doc = "A copy of `x` in row-major order.", .reference = cast_kernel, .kernel = {nullptr, cuda::copy_kernel}};
Tensor contiguous(const Tensor& x) { return x->contiguous() ? x : apply(op_contiguous, {x}); }

// copy(self, source): only ever applied in place; what self was does not matter.
const Op op_copy{.name = "copy", .types = types::first,
    .d = {rule([](V v) { return zeros_like(v); }), rule([](V v) -> Tensor { return v; })},
    .doc = "The elements of `source`, broadcast to `self` and converted to its type.", .reference = copy_kernel, .kernel = {nullptr, cuda::copy_kernel}};
void copy_(const Tensor& self, const Tensor& source, bool non_blocking) {
  const bool number = source->flags & flag_wrapped && !source->keys && self.device().type == DeviceType::cpu;   // cast where it is read
  Tensor s = number || source.dtype() == self.dtype() ? source : to_dtype(source, self.dtype());
  if (s.device() != self.device() && (s.dim() || s.device().type != DeviceType::cpu)) s = to_device(s, self.device(), non_blocking && self.device().type != DeviceType::cpu);
  apply_inplace(op_copy, self, {&s, 1});
}

namespace {

// Strides of a result on another device are those of clone(x): the memory of both is one run in the same order.
void transfer(Tensors x, const Attrs& attrs, Tensor* out) {
  const auto& a = attrs.as<Transfer>();
  if (x[0]->keys & key_sparse) {
    expect(a.device.type != DeviceType::meta, ErrorKind::not_implemented, "to: a sparse tensor is its positions, which device meta does not have");
    const Sparse& s = sparse_of(*x[0]);
    out[0] = make_sparse(to_device(s.values, a.device, a.non_blocking), to_device(s.indices, a.device, a.non_blocking), x[0].sizes(), s.coalesced, s.compression);
    return;
  }
  if (a.device.type == DeviceType::meta) {
    out[0] = empty(x[0].sizes(), x[0].dtype(), a.device);
    follow_layout(x[0], *out[0]);
    return;
  }
  expect_memory(*x[0], "to");
  if (a.non_blocking && a.device.type == DeviceType::cpu) {   // into memory that it need not wait for
    out[0] = cuda::offloaded(x[0]);
    return;
  }
  Tensor from = x[0], to = empty(from.sizes(), from.dtype(), a.device);
  follow_layout(from, *to);
  if (!(from->strides == to->strides)) from = clone_memory(from);
  cuda::copy(*to, *from, a.non_blocking);
  out[0] = to;
}

}  // namespace

const Op op_to_device{.name = "to_device", .torch = "ToCopy", .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, Shapes s) { return to_device(v, s.x[0].device); })},
    .make = transfer, .batch = batch::leading,
    .doc = "A copy of `x` on another device."};
Tensor to_device(const Tensor& x, Device device, bool non_blocking) {
  device = cuda::resolved(device);
  if (x.device() == device) return x;
  if (x->flags & flag_wrapped && !x->keys) return full({}, item(x), x.dtype(), device);   // a number: nothing is copied
  return apply(op_to_device, {x}, Transfer{device, non_blocking});
}

const Op* const cast_ops[] = {&op_clone, &op_contiguous, &op_copy, &op_to_device, &op_to_dtype};
Ops families::cast() { return cast_ops; }

}  // namespace adjoint
