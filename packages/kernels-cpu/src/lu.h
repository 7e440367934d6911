// The factors p l u of a matrix, in place.
#pragma once
#include <algorithm>

#include "small_matmul.h"

namespace adjoint::cpu {

// a (m, n) becomes l, without its diagonal of ones, and u; pivots: which row each was exchanged with, from 1, as LAPACK counts. Which pivot is the
// first 0, from 1, or 0. Of more than `lu_panel` columns a has dense rows.
constexpr int64_t lu_panel = 16;
template <class T> int factor_lu(Matrix<T> a, int64_t m, int64_t n, int32_t* pivots);

// x (n, k), with dense rows, = (p l u)^-1 x, the factors having dense rows too.
template <class T> void solve_lu(Matrix<const T> factors, const int32_t* pivots, Matrix<T> x, int64_t n, int64_t k);

// Rows of a (., n) exchanged, as k pivots say.
template <class T> void exchange(Matrix<T> a, int64_t n, const int32_t* pivots, int64_t k) {
  for (int64_t i = 0; i < k; i++)
    if (pivots[i] != i + 1) std::swap_ranges(a.at(i, 0), a.at(i, n), a.at(pivots[i] - 1, 0));
}

}  // namespace adjoint::cpu
