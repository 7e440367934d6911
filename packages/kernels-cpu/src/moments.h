// Means and mean squares of distances from them.
#pragma once
#include <adjoint/core/dims.h>
#include <adjoint/core/kernel.h>

namespace adjoint::cpu {

// Over `dims` of x, an element T each: `count` means and sums of squares, which are divided by n and by n - correction.
template <class T> void moments(const View& x, const Dims& dims, double correction, T* mean, T* square, int64_t count);

}  // namespace adjoint::cpu
