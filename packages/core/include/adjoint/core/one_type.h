// Operands of one type: where two types meet in a layer or a loss, nothing says which of them was meant, and the wider one would go on through the
// network unseen.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

// The types of devices for which autocast is on in this thread.
ADJOINT_API extern constinit thread_local bool autocast_on[device_types];

// Whether autocast may cast the tensor, so that types are alike before a kernel sees them. float64 and integers are left alone, and numbers have no type
// of their own.
ADJOINT_API bool may_autocast(const Tensor& t) noexcept;

// `t`, where it is given, has the type of `like`.
ADJOINT_API void expect_type(const char* op, const char* what, const Tensor& t, const char* of, const Tensor& like);

}  // namespace adjoint
