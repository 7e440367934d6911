// as_strided looks at memory: the tangent of its result is the same piece of the memory of the tangent.
#include <adjoint/core/layout.h>

#include <algorithm>

#include "record.h"

namespace adjoint::engine {

namespace {

// The farthest base of x's type.
TensorImpl& memory_root(TensorImpl& x) {
  TensorImpl* root = &x;
  while (root->view && view_info(*root)->parent->dtype == x.dtype) root = view_info(*root)->parent.get();
  return *root;
}

// The elements of the tangent's memory that are its own and zero where the value has none: [first, last) behind its first one.
struct Span { int64_t first, last; };
Span own(const Face& f, const Layout& tangent) {
  const Tensor memory = bottom(f.tangent);
  const bool lanes = memory.sizes() != f.tangent.sizes();
  if (!lanes && f.owns_tangent) return {-tangent.offset, static_cast<int64_t>(memory->storage->nbytes) / itemsize(memory.dtype()) - tangent.offset};
  const int64_t end = reach(f.tangent.sizes(), tangent.strides);
  return {0, end == f.tangent.numel() ? end : 0};
}

// The tangent moves to memory of its own which goes as far as needed.
void cover(Face& f, const Layout& value, Span wanted) {
  const Layout tangent = layout(f.tangent);
  const Span before = f.owns_tangent && same_strides(f.value.sizes(), value.strides, tangent.strides) ? own(f, tangent) : Span{0, 0};   // older views come along
  const int64_t first = std::min({wanted.first, before.first, int64_t(0)});
  const int64_t last = std::max({wanted.last, before.last, reach(f.value.sizes(), value.strides)});
  const Tensor place = as_strided(zeros({last - first}, f.value.dtype(), f.value.device()), f.value.sizes(), value.strides, -first);
  copy_(place, f.tangent);
  f.tangent = place;
  f.owns_tangent = true;
}

}  // namespace

const Op& as_strided_op() {
  static const Op& op = *find_op("as_strided");
  return op;
}

Tensor strided_tangent(const Tensor& x, const Strided& a) {
  TensorImpl& root = memory_root(*x);
  Face& f = *static_cast<Face*>(root.face.get());
  if (a.sizes.product() == 0 || f.value.numel() == 0) return zeros(a.sizes, x.dtype(), x.device());
  const Layout value = layout(f.value);
  const Span wanted{a.offset - value.offset, a.offset - value.offset + reach(a.sizes, a.strides)};
  const Layout tangent = layout(f.tangent);
  const Span there = own(f, tangent);
  if (!same_strides(f.value.sizes(), value.strides, tangent.strides) || wanted.first < there.first || wanted.last > there.last) {
    expect(!root.view, ErrorKind::not_implemented, "as_strided: forward mode is not implemented for a view of another type that does not hold all elements of the result");
    cover(f, value, wanted);
    root.epoch++;
  }
  return as_strided(f.tangent, a.sizes, a.strides, layout(f.tangent).offset + wanted.first);
}

}  // namespace adjoint::engine
