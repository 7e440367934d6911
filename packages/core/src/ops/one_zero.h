// Zeros that an operation writes some of: its kernel fills the result with them, so that they need no memory of their own.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

inline Tensor one_zero(const Dims& sizes, const Tensor& like) { return expand(zeros({}, like.dtype(), like.device()), sizes); }

}  // namespace adjoint
