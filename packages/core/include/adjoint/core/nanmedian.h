// The median of the numbers along a dimension, whatever NaNs stand between them.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

ADJOINT_API Values nanmedian(const Tensor& x, int64_t dim, bool keepdim = false);

}  // namespace adjoint
