// Batching rules of records: how a call under vmap becomes one call on values whose batch dimension stands in front.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint::batch {

// Operand i with its batch dimension in front; one without a batch dimension as it is.
inline Tensor front(const BatchCall& c, int i) { return c.dims[i] < 0 ? c.x[i] : movedim(c.x[i], c.dims[i], 0); }

// Operand i with a batch dimension in front in any case (expanded if it had none); an empty operand stays empty.
inline Tensor spread(const BatchCall& c, int i) {
  if (!c.x[i] || c.dims[i] >= 0) return front(c, i);
  Dims sizes = c.x[i].sizes();
  sizes.insert(0, c.size);
  return expand(c.x[i], sizes);
}

namespace detail {
inline void shift(int& d) { d++; }
inline void shift(Dims& d) { for (int64_t& v : d) v++; }
template <class A, class M> A owner_of(M A::*);
}  // namespace detail

// For ops whose only positions are the named attributes: batch = shift<&Slice::dim>.
template <auto First, auto... Rest>
void shift(const BatchCall& c, Tensor* out) {
  using A = decltype(detail::owner_of(First));
  A a = c.attrs.as<A>();
  detail::shift(a.*First);
  (detail::shift(a.*Rest), ...);
  Vector<Tensor> x(c.x.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = spread(c, static_cast<int>(i));
  apply(c.op, x, a, out);
}

// For ops that treat leading dimensions as a batch already (matmul): nothing but the order of dimensions.
inline void leading(const BatchCall& c, Tensor* out) {
  Vector<Tensor> x(c.x.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = spread(c, static_cast<int>(i));
  apply(c.op, x, c.attrs, out);
}

}  // namespace adjoint::batch
