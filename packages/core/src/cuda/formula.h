// Whether the formulas of a kernel can be evaluated: they come from elsewhere.
#pragma once
#include <adjoint/core/cuda/kernel.h>

namespace adjoint::cuda {

constexpr int deepest = 16;   // values on the stack

void check_formulas(const Op& op, const StructuredKernel& kernel);   // an error where one cannot

}  // namespace adjoint::cuda
