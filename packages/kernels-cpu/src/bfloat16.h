// Products of bfloat16 matrices by the instruction that multiplies pairs of them.
#pragma once
#include <adjoint/core/kernel.h>

namespace adjoint::cpu {

// y = a b, if the processor has the instruction and the matrices are large enough for it.
bool multiply_bfloat16(const View& a, const View& b, const View& y);

}  // namespace adjoint::cpu
