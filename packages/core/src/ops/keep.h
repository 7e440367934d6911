// For rules: v or 0 by a mask, as a product with the mask would make NaN of infinity times 0; and half types in float.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

inline Tensor keep(const Tensor& mask, const Tensor& v) { return where(mask, v, wrapped(0.)); }
inline Tensor drop(const Tensor& mask, const Tensor& v) { return where(mask, wrapped(0.), v); }

// Half types as float, others as they are: what a rule computes in several steps is then rounded to half once, at its end.
inline Tensor in_float(const Tensor& x) { return is_half(x.dtype()) ? to_dtype(x, DType::float32) : x; }

}  // namespace adjoint
