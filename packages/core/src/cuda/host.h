// Operations that the host computes for a GPU.
#pragma once
#include <adjoint/core/op.h>

namespace adjoint::cuda {

Kernel host_kernel(const Op& op);   // null where none is marked so

}  // namespace adjoint::cuda
