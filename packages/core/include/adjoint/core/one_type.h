// Operands of one type: where two types meet in a layer or a loss, nothing says which of them was meant, and the wider one would go on through the
// network unseen.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

ADJOINT_API extern constinit thread_local bool casts_operands;   // autocast is on: it makes types alike before a kernel sees them

// `t`, where it is given, has the type of `like`.
ADJOINT_API void expect_type(const char* op, const char* what, const Tensor& t, const char* of, const Tensor& like);

}  // namespace adjoint
