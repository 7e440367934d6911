// Copies: to another type, to fresh memory, into existing memory.
#include <adjoint/core/batch.h>
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/elementwise.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include <cstring>

#include "families.h"

namespace adjoint {

namespace {

// Any type to any type, element by element.
void cast_kernel(const Launch& l) {
  const View* const v[] = {&l.y[0], &l.x[0]};
  with_type(l.x[0].dtype, [&](auto from) {
    with_type(l.y[0].dtype, [&](auto to) {
      using From = typename decltype(from)::type;
      using To = typename decltype(to)::type;
      for_rows(v, [](char* const* p, const int64_t* s, int64_t n) {
        if constexpr (std::is_same_v<From, To>)
          if (s[0] == sizeof(To) && s[1] == sizeof(To)) return static_cast<void>(std::memmove(p[0], p[1], n * sizeof(To)));
        for (int64_t i = 0; i < n; i++) *reinterpret_cast<To*>(p[0] + i * s[0]) = convert<To>(*reinterpret_cast<const From*>(p[1] + i * s[1]));
      });
    });
  });
}

void copy_kernel(const Launch& l) { cast_kernel({l.x.subspan(1), l.y, l.attrs, l.op}); }

}  // namespace

// The engine casts a cotangent to the type of its input, so the transpose of a cast is the identity here.
const Op op_to_dtype{.name = "to_dtype", .torch = "ToCopy", .kind = Kind::linear,
    .types = [](Tensors x, const Attrs& a) { return Types{x[0].dtype(), {a.as<Cast>().dtype}}; },
    .d = {rule([](V v) -> Tensor { return v; })},
    .doc = "The elements of `x` converted to another dtype; complex to real takes the real part.", .reference = cast_kernel, .kernel = {nullptr, cuda::copy_kernel}};
Tensor to_dtype(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
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
