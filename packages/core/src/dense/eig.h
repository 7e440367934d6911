// The spectrum of a general matrix: QR iterations on its Hessenberg form, in complex numbers.
#pragma once
#include "orthogonal.h"

namespace adjoint::dense {

using Z = Complex<double>;

// The rotation that takes (a, b) to (r, 0), applied to rows, or from the right to columns k and k + 1.
struct Givens {
  Z c{1}, s{0};
  Givens(Z a, Z b) {
    const double r = std::hypot(magnitude(a), magnitude(b));
    if (r > 0) c = a / r, s = b / r;
  }
  void rows(Matrix<Z>& h, int64_t k) const {
    for (int64_t j = 0; j < h.columns; j++) {
      const Z x = h(k, j), y = h(k + 1, j);
      h(k, j) = conjugate(c) * x + conjugate(s) * y;
      h(k + 1, j) = c * y - s * x;
    }
  }
  void columns(Matrix<Z>& h, int64_t k) const {
    for (int64_t i = 0; i < h.rows; i++) {
      const Z x = h(i, k), y = h(i, k + 1);
      h(i, k) = x * c + y * s;
      h(i, k + 1) = y * conjugate(c) - x * conjugate(s);
    }
  }
};

// h = z h z^H with a new h that has one diagonal below the main one.
inline void hessenberg(Matrix<Z>& h, Matrix<Z>& z) {
  for (int64_t k = 0; k + 2 < h.rows; k++)
    for (int64_t i = h.rows - 1; i > k + 1; i--) {
      const Givens g(h(i - 1, k), h(i, k));
      g.rows(h, i - 1);
      g.columns(h, i - 1);
      g.columns(z, i - 1);
      h(i, k) = Z(0);
    }
}

// The eigenvalue of the last two rows of the block that ends at `last` which is closer to its last element.
inline Z shift(const Matrix<Z>& h, int64_t last) {
  const Z a = h(last - 1, last - 1), d = h(last, last), half = (a + d) / 2., det = a * d - h(last - 1, last) * h(last, last - 1);
  const Z square = half * half - det;
  const double r = magnitude(square);
  const Z root{std::sqrt((r + square.re) / 2), std::copysign(std::sqrt(std::max(0., (r - square.re) / 2)), square.im)};
  return magnitude(half + root - d) < magnitude(half - root - d) ? half + root : half - root;
}

// h becomes triangular; false if it does not.
inline bool schur(Matrix<Z>& h, Matrix<Z>& z) {
  int64_t last = h.rows - 1;
  for (int tries = 0; last > 0;) {
    int64_t first = last;
    for (; first > 0; first--)
      if (magnitude(h(first, first - 1)) <= rounding * (magnitude(h(first, first)) + magnitude(h(first - 1, first - 1)))) break;
    if (first > 0) h(first, first - 1) = Z(0);
    if (first == last) { last--; tries = 0; continue; }
    if (++tries > 200) return false;
    const Z s = tries % 10 == 0 ? Z(magnitude(h(last, last - 1))) : shift(h, last);
    for (int64_t i = first; i <= last; i++) h(i, i) -= s;
    std::vector<Givens> turns;
    for (int64_t k = first; k < last; k++) {
      turns.emplace_back(h(k, k), h(k + 1, k));
      turns.back().rows(h, k);
    }
    for (int64_t k = first; k < last; k++) {
      turns[k - first].columns(h, k);
      turns[k - first].columns(z, k);
    }
    for (int64_t i = first; i <= last; i++) h(i, i) += s;
  }
  return true;
}

struct Spectrum { std::vector<Z> values; Matrix<Z> vectors; int32_t info; };
// Columns of `vectors` have norm 1.
inline Spectrum eig(Matrix<Z> h) {
  const int64_t n = h.rows;
  Matrix<Z> z = Matrix<Z>::identity(n, n), x = Matrix<Z>::identity(n, n);
  hessenberg(h, z);
  if (!schur(h, z)) return {std::vector<Z>(n, Z(NAN, NAN)), z, 1};
  double norm = 0;
  for (const Z& v : h.values) norm = std::hypot(norm, magnitude(v));
  std::vector<Z> w;
  for (int64_t k = 0; k < n; k++) {
    w.push_back(h(k, k));
    for (int64_t i = k; i-- > 0;) {
      Z sum(0), gap = h(i, i) - h(k, k);
      for (int64_t j = i + 1; j <= k; j++) sum += h(i, j) * x(j, k);
      if (magnitude(gap) < rounding * norm) gap = Z(rounding * norm);
      x(i, k) = -sum / gap;
    }
  }
  Matrix<Z> v = multiply(z, x);
  for (int64_t k = 0; k < n; k++) {
    double size = 0;
    for (int64_t i = 0; i < n; i++) size = std::hypot(size, magnitude(v(i, k)));
    for (int64_t i = 0; i < n; i++) v(i, k) = v(i, k) / size;
  }
  return {w, v, 0};
}

}  // namespace adjoint::dense
