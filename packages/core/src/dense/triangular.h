// Factorisations into triangles, and solutions with them.
#pragma once
#include <algorithm>
#include <utility>

#include "matrix.h"

namespace adjoint::dense {

// a = L L^H, from the lower triangle; the order of the first leading minor that is not positive, or 0.
template <class C> int32_t cholesky(Matrix<C>& a) {
  const int64_t n = a.rows;
  for (int64_t i = 0; i < n; i++) std::fill_n(&a(i, 0) + i + 1, n - i - 1, C(0));
  for (int64_t j = 0; j < n; j++) {
    double d = real(a(j, j));
    for (int64_t k = 0; k < j; k++) d -= real(a(j, k) * conjugate(a(j, k)));
    if (!(d > 0)) return static_cast<int32_t>(j + 1);
    a(j, j) = C(std::sqrt(d));
    for (int64_t i = j + 1; i < n; i++) {
      for (int64_t k = 0; k < j; k++) a(i, j) = a(i, j) - a(i, k) * conjugate(a(j, k));
      a(i, j) = a(i, j) / a(j, j);
    }
  }
  return 0;
}

// Subtracts multiples of row k from those below, which leaves the multipliers in column k.
template <class C> void eliminate(Matrix<C>& a, int64_t k) {
  for (int64_t i = k + 1; i < a.rows; i++) {
    a(i, k) = a(i, k) / a(k, k);
    for (int64_t j = k + 1; j < a.columns; j++) a(i, j) = a(i, j) - a(i, k) * a(k, j);
  }
}

struct Pivoting { std::vector<int64_t> rows; int32_t info = 0; };   // row k was exchanged with rows[k]
// a = P L U; `info` counts the first pivot that is zero from 1.
template <class C> Pivoting lu(Matrix<C>& a) {
  Pivoting p;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); k++) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows; i++) if (size(a(i, k)) > size(a(best, k))) best = i;
    p.rows.push_back(best);
    a.swap_rows(k, best);
    if (a(k, k) == C(0)) p.info = p.info ? p.info : static_cast<int32_t>(k + 1);
    else eliminate(a, k);
  }
  return p;
}

// a = P L U Q: pivots are the largest of all that is left, so the last ones tell the rank. It ends where these are not above `least` of the first.
struct FullPivoting { std::vector<int64_t> rows, columns; bool odd = false; };   // positions in a; odd: the sign of P Q
template <class C> FullPivoting full_lu(Matrix<C>& a, double least) {
  const int64_t n = a.rows;
  FullPivoting p;
  for (int64_t i = 0; i < n; i++) { p.rows.push_back(i); p.columns.push_back(i); }
  for (int64_t k = 0; k < n; k++) {
    int64_t row = k, column = k;
    for (int64_t i = k; i < n; i++)
      for (int64_t j = k; j < n; j++) if (size(a(i, j)) > size(a(row, column))) { row = i; column = j; }
    a.swap_rows(k, row);
    for (int64_t i = 0; i < n && column != k; i++) std::swap(a(i, k), a(i, column));
    std::swap(p.rows[k], p.rows[row]);
    std::swap(p.columns[k], p.columns[column]);
    p.odd ^= (row != k) ^ (column != k);
    if (!(size(a(k, k)) > least * size(a(0, 0)))) break;
    eliminate(a, k);
  }
  return p;
}

// b = a^-1 b with one triangle of a.
template <class C> void solve_triangular(const Matrix<C>& a, Matrix<C>& b, bool upper, bool unit) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; step++) {
    const int64_t i = upper ? n - 1 - step : step, first = upper ? i + 1 : 0, last = upper ? n : i;
    for (int64_t j = 0; j < b.columns; j++) {
      for (int64_t k = first; k < last; k++) b(i, j) = b(i, j) - a(i, k) * b(k, j);
      if (!unit) b(i, j) = b(i, j) / a(i, i);
    }
  }
}

// b = (P L U)^-1 b, or its conjugate transpose's.
template <class C> void solve_lu(const Matrix<C>& lu, const std::vector<int64_t>& rows, Matrix<C>& b, bool adjoint) {
  const int64_t n = lu.rows;
  if (!adjoint) {
    for (int64_t k = 0; k < n; k++) b.swap_rows(k, rows[k]);
    solve_triangular(lu, b, false, true);
    return solve_triangular(lu, b, true, false);
  }
  const Matrix<C> other = dense::adjoint(lu);
  solve_triangular(other, b, false, false);
  solve_triangular(other, b, true, true);
  for (int64_t k = n; k-- > 0;) b.swap_rows(k, rows[k]);
}

}  // namespace adjoint::dense
