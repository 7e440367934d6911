// Euclid's distances between rows.
#pragma once
#include "kernels.h"

namespace adjoint::cpu {

void distances_kernel(const Launch& l);

}  // namespace adjoint::cpu
