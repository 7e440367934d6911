// What rules share.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

// v or 0 by a mask, as a product with the mask would make NaN of infinity times 0.
inline Tensor keep(const Tensor& mask, const Tensor& v) { return where(mask, v, wrapped(0.)); }
inline Tensor drop(const Tensor& mask, const Tensor& v) { return where(mask, wrapped(0.), v); }

// 2 a, the slope of a square: where a graph is recorded its third derivative is zero, not absent.
Tensor twice(const Tensor& a);

}  // namespace adjoint
