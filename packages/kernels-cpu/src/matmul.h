// The product of two matrices in memory, on one thread.
#pragma once
#include "blas.h"
#include "isa.h"
#include "small_matmul.h"

#include <algorithm>

namespace adjoint::cpu {

// Whether BLAS can read it, as it lies or as its transpose.
template <class T> bool rows_dense(const Matrix<T>& a, int64_t columns) { return a.right == 1 && a.down >= std::max<int64_t>(1, columns); }
template <class T> bool columns_dense(const Matrix<T>& a, int64_t rows) { return a.down == 1 && a.right >= std::max<int64_t>(1, rows); }

// c = a b. a and b have dense rows or dense columns, c dense rows.
template <class T> void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
  const bool tb = !rows_dense(b, n), ta = !rows_dense(a, k);
  if constexpr (std::is_floating_point_v<T>) {
    if (n > 1 && !tb && m * n * k <= 96 * 96 * 96) return isa::call<SmallMatmul<T>>(a, EvenRows<T>{b.data, b.down}, c, m, n, k);
    if (n == 1) return ta ? blas::gemv(true, k, m, a.data, a.right, b.data, b.down, c.data, c.down) : blas::gemv(false, m, k, a.data, a.down, b.data, b.down, c.data, c.down);
    if (m == 1) return tb ? blas::gemv(false, n, k, b.data, b.right, a.data, a.right, c.data, 1) : blas::gemv(true, k, n, b.data, b.down, a.data, a.right, c.data, 1);
  }
  blas::gemm(ta, tb, m, n, k, a.data, ta ? a.right : a.down, b.data, tb ? b.right : b.down, c.data, c.down);
}

}  // namespace adjoint::cpu
