// Hinges between the targets of a row and its other classes.
#pragma once
#include "kernels.h"

namespace adjoint::cpu {

void margin_kernel(const Launch& l);
void margin_vjp_kernel(const Launch& l);

}  // namespace adjoint::cpu
