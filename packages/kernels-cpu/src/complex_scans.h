// Running products, and logarithms of sums of exponentials, of complex numbers.
#pragma once
#include <adjoint/core/op.h>

namespace adjoint::cpu {

// Whether it was done.
bool scan_complex(const Launch& l, bool of_exponentials);
bool log_sums_of_complex(const Launch& l);

}  // namespace adjoint::cpu
