// Symmetric and Hermitian matrices that need not be positive: a = L D L^T with blocks of one or two rows in D (J. R. Bunch and L. Kaufman, Some
// stable methods for calculating inertia and solving symmetric linear systems, 1977), packed as LAPACK packs it.
#pragma once
#include <algorithm>

#include "matrix.h"

namespace adjoint::dense {

// The element across the diagonal.
template <class C> C across(C x, bool hermitian) { return hermitian ? conjugate(x) : x; }

template <class C> struct BunchKaufman {
  Matrix<C>& a;   // the lower triangle; what stands above becomes 0
  bool hermitian;
  std::vector<int64_t> pivots{};   // the row exchanged with, from 1; for both rows of a block of two, negative
  int32_t info = 0;                // which block of one is zero, from 1; 0: none

  void run() {
    for (int64_t i = 0; i < a.rows; i++) std::fill_n(a.values.begin() + i * a.columns + i + 1, a.columns - i - 1, C(0));
    for (int64_t k = 0; k < a.rows;) k += step(k);
  }

 private:
  int64_t step(int64_t k) {
    if (hermitian) a(k, k) = C(real(a(k, k)));
    const int64_t best = largest_below(k);
    const double own = size(a(k, k)), other = best < a.rows ? size(a(best, k)) : 0;
    if (!(std::max(own, other) > 0)) {
      info = info ? info : static_cast<int32_t>(k + 1);
      pivots.push_back(k + 1);
      return 1;
    }
    const auto [row, two] = choice(k, best, own, other);
    exchange(k, two ? k + 1 : k, row);
    two ? eliminate_two(k) : eliminate_one(k);
    for (int i = 0; i <= two; i++) pivots.push_back(two ? -row - 1 : row + 1);
    return two ? 2 : 1;
  }
  int64_t largest_below(int64_t k) const {
    int64_t best = k + 1;
    for (int64_t i = k + 2; i < a.rows; i++) if (size(a(i, k)) > size(a(best, k))) best = i;
    return best;
  }
  struct Choice { int64_t row; bool two; };
  Choice choice(int64_t k, int64_t best, double own, double other) const {
    const double share = (1 + std::sqrt(17.)) / 8;
    if (own >= share * other) return {k, false};
    double rest = 0;   // the largest of the other's row off the diagonal
    for (int64_t j = k; j < best; j++) rest = std::max(rest, size(a(best, j)));
    for (int64_t i = best + 1; i < a.rows; i++) rest = std::max(rest, size(a(i, best)));
    if (own >= share * other * (other / rest)) return {k, false};
    return {best, !(size(a(best, best)) >= share * rest)};
  }
  // Rows and columns `from` and `to` of what is left.
  void exchange(int64_t k, int64_t from, int64_t to) {
    if (from == to) return;
    for (int64_t i = to + 1; i < a.rows; i++) std::swap(a(i, from), a(i, to));
    for (int64_t j = from + 1; j < to; j++) {
      const C x = across(a(j, from), hermitian);
      a(j, from) = across(a(to, j), hermitian);
      a(to, j) = x;
    }
    a(to, from) = across(a(to, from), hermitian);
    std::swap(a(from, from), a(to, to));
    if (from != k) std::swap(a(from, k), a(to, k));
  }
  void eliminate_one(int64_t k) {
    for (int64_t j = k + 1; j < a.rows; j++) {
      const C factor = across(a(j, k), hermitian) / a(k, k);
      for (int64_t i = j; i < a.rows; i++) a(i, j) = a(i, j) - a(i, k) * factor;
    }
    for (int64_t i = k + 1; i < a.rows; i++) a(i, k) = a(i, k) / a(k, k);
  }
  void eliminate_two(int64_t k) {
    if (hermitian) a(k + 1, k + 1) = C(real(a(k + 1, k + 1)));
    const C d = a(k, k), e = a(k + 1, k), f = a(k + 1, k + 1), det = d * f - e * across(e, hermitian);
    for (int64_t j = k + 2; j < a.rows; j++) {   // two of row j, times the inverse of the block
      const C p = (a(j, k) * f - a(j, k + 1) * e) / det, q = (a(j, k + 1) * d - a(j, k) * across(e, hermitian)) / det;
      for (int64_t i = j; i < a.rows; i++) a(i, j) = a(i, j) - a(i, k) * across(p, hermitian) - a(i, k + 1) * across(q, hermitian);
      a(j, k) = p;
      a(j, k + 1) = q;
    }
  }
};

// x = a^-1 x with the packed factors of a.
template <class C> void solve_ldl(const Matrix<C>& f, const std::vector<int64_t>& pivots, Matrix<C>& x, bool hermitian) {
  const int64_t n = f.rows;
  const auto subtract = [&](int64_t row, C factor, int64_t other) { for (int64_t j = 0; j < x.columns; j++) x(row, j) = x(row, j) - factor * x(other, j); };
  for (int64_t k = 0, wide; k < n; k += wide) {
    wide = pivots[k] > 0 ? 1 : 2;
    x.swap_rows(k + wide - 1, std::abs(pivots[k]) - 1);
    for (int64_t i = k + wide; i < n; i++)
      for (int64_t c = k; c < k + wide; c++) subtract(i, f(i, c), c);
    const C d = f(k, k), e = wide == 2 ? f(k + 1, k) : C(0), g = wide == 2 ? f(k + 1, k + 1) : C(1), det = d * g - e * across(e, hermitian);
    for (int64_t j = 0; j < x.columns; j++) {
      const C p = x(k, j), q = wide == 2 ? x(k + 1, j) : C(0);
      x(k, j) = wide == 2 ? (g * p - across(e, hermitian) * q) / det : p / d;
      if (wide == 2) x(k + 1, j) = (d * q - e * p) / det;
    }
  }
  for (int64_t k = n; k > 0;) {
    const int64_t wide = pivots[k - 1] > 0 ? 1 : 2;
    k -= wide;
    for (int64_t c = k; c < k + wide; c++)
      for (int64_t i = k + wide; i < n; i++) subtract(c, across(f(i, c), hermitian), i);
    x.swap_rows(k + wide - 1, std::abs(pivots[k]) - 1);
  }
}

}  // namespace adjoint::dense
