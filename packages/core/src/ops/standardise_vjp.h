// What the rules of batch_norm have one kernel for, in training and with given statistics.
#pragma once
#include <adjoint/core/norms.h>

namespace adjoint {

// Whether the kernel takes v and x: plain tensors, of whose derivative no history is kept, with channels in the second dimension alone.
bool takes_channels(const Tensor& v, const Tensor& x, const Tensor& mean, const Dims& dims);
// shift + x factor, with a node that remembers x.
Tensor affine(const Tensor& shift, const Tensor& x, const Tensor& factor);

}  // namespace adjoint
