// Systems with one triangle of a matrix, in place.
#pragma once
#include "small_matmul.h"

namespace adjoint::cpu {

// x (n, k) = a^-1 x, or -a^-1 x, with a's lower or upper triangle; `unit`: with ones on its diagonal. a has dense rows or columns, x dense rows.
template <class T> void solve_triangle(Matrix<const T> a, bool upper, bool unit, Matrix<T> x, int64_t n, int64_t k, bool negative = false);

}  // namespace adjoint::cpu
