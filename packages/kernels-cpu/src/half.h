// Conversion of dense half-precision values, in hardware where there is some.
#pragma once
#include <adjoint/core/half.h>

namespace adjoint::cpu {

void widen(float* y, const Half* x, int64_t n);
void narrow(Half* y, const float* x, int64_t n);

}  // namespace adjoint::cpu
