// Convolutions of bfloat16 by AMX.
#pragma once
#include <adjoint/core/convolution.h>
#include <adjoint/core/half.h>

namespace adjoint::cpu {

enum class Result { x, weight, y };

// Whether they are worth it here, for that of the three which is to be computed.
bool tiles_pay(Result result, const ConvolutionSizes& g);
// Of dense operands, in the order in which the records have them; rounded, or as float.
void convolve_in_tiles(Result result, const ConvolutionSizes& g, const BFloat16* left, const BFloat16* right, void* to, DType type);

}  // namespace adjoint::cpu
