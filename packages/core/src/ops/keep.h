// For rules: v or 0 by a mask, as a product with the mask would make NaN of infinity times 0.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

inline Tensor keep(const Tensor& mask, const Tensor& v) { return where(mask, v, wrapped(0.)); }
inline Tensor drop(const Tensor& mask, const Tensor& v) { return where(mask, wrapped(0.), v); }

}  // namespace adjoint
