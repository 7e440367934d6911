// Planes read at positions that their sizes determine, or random numbers: borders made of what a tensor has, patches, windows.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

enum class Border { replicate, reflect, circular };
ADJOINT_API Tensor pad_around(const Tensor& x, const Dims& before, const Dims& after, Border border);

// (kernel[0] kernel[1] rows columns): where each tap of each window stands in a plane of such sizes, and how many rows and columns of windows there are.
struct Patches { Tensor positions; Dims windows; };
ADJOINT_API Patches patches(const Dims& sizes, const Dims& kernel, const Dims& dilation, const Dims& stride, Device device);

// (n, c, ...) and (n, c, dimensions) numbers in [0, 1).
ADJOINT_API Values fractional_max_pool(const Tensor& x, const Tensor& samples, const Dims& kernel, const Dims& sizes);

}  // namespace adjoint
