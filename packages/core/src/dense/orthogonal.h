// Orthogonal factorisations: QR by reflections, and the spectra of Hermitian matrices and of a^H a by rotations (Jacobi).
#pragma once
#include <algorithm>
#include <numeric>

#include "matrix.h"

namespace adjoint::dense {

// The reflection H = 1 - tau v v^H with H^H x = (beta, 0, ...), beta real; v(0) = 1. LAPACK's choice of signs.
template <class C> struct Reflection {
  std::vector<C> v;
  C tau = C(0);
  Reflection(const Matrix<C>& a, int64_t k) {
    double below = 0;
    for (int64_t i = k; i < a.rows; i++) v.push_back(a(i, k));
    for (size_t i = 1; i < v.size(); i++) below = std::hypot(below, magnitude(v[i]));
    const C alpha = v[0];
    if (below == 0 && imag(alpha) == 0) return;
    const double beta = -std::copysign(std::hypot(magnitude(alpha), below), real(alpha));
    tau = (C(beta) - alpha) / C(beta);
    for (C& x : v) x = x / (alpha - C(beta));
    v[0] = C(1);
  }
  // What is packed in column k.
  Reflection(const Matrix<C>& a, int64_t k, C tau) : v(1, C(1)), tau(tau) {
    for (int64_t i = k + 1; i < a.rows; i++) v.push_back(a(i, k));
  }
  // a = H a, or H^H a, in rows from k on and columns from `first` on.
  void apply(Matrix<C>& a, int64_t k, bool adjoint, int64_t first = 0) const {
    const C factor = adjoint ? conjugate(tau) : tau;
    for (int64_t j = first; j < a.columns; j++) {
      C dot(0);
      for (size_t i = 0; i < v.size(); i++) dot += conjugate(v[i]) * a(k + static_cast<int64_t>(i), j);
      for (size_t i = 0; i < v.size(); i++) a(k + static_cast<int64_t>(i), j) = a(k + static_cast<int64_t>(i), j) - factor * v[i] * dot;
    }
  }
};

// a becomes R, with the vectors below the diagonal; gives their factors.
template <class C> std::vector<C> packed_qr(Matrix<C>& a) {
  std::vector<C> factors;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); k++) {
    const Reflection<C> r(a, k);
    r.apply(a, k, true, k);
    for (int64_t i = k + 1; i < a.rows; i++) a(i, k) = r.v[i - k];
    factors.push_back(r.tau);
  }
  return factors;
}
// x = H_1 H_2 ... x with the packed reflections, or with the adjoint of their product.
template <class C> void reflect(const Matrix<C>& packed, const std::vector<C>& factors, Matrix<C>& x, bool adjoint) {
  const auto count = static_cast<int64_t>(factors.size());
  for (int64_t i = 0; i < count; i++) {
    const int64_t k = adjoint ? i : count - 1 - i;
    Reflection<C>(packed, k, factors[k]).apply(x, k, adjoint);
  }
}

// a becomes R; gives Q with `columns` columns.
template <class C> Matrix<C> qr(Matrix<C>& a, int64_t columns) {
  const std::vector<C> factors = packed_qr(a);
  Matrix<C> q = Matrix<C>::identity(a.rows, columns);
  reflect(a, factors, q, false);
  for (int64_t i = 0; i < a.rows; i++) std::fill_n(a.values.begin() + i * a.columns, std::min(i, a.columns), C(0));
  return q;
}

// Columns p and q of a turn so that the Hermitian matrix ((alpha, gamma), (., beta)) of their products becomes diagonal.
template <class C> struct Rotation {
  double c, s;
  C phase;
  Rotation(double alpha, C gamma, double beta) {
    const double size = magnitude(gamma), theta = (beta - alpha) / (2 * size);
    const double t = std::copysign(1 / (std::fabs(theta) + std::hypot(theta, 1)), theta);
    c = 1 / std::hypot(t, 1);
    s = t * c;
    phase = gamma / C(size);
  }
  void rows(Matrix<C>& a, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < a.columns; j++) {
      const C x = a(p, j), y = a(q, j);
      a(p, j) = C(c) * x - C(s) * phase * y;
      a(q, j) = C(s) * conjugate(phase) * x + C(c) * y;
    }
  }
  void columns(Matrix<C>& a, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < a.rows; i++) {
      const C x = a(i, p), y = a(i, q);
      a(i, p) = C(c) * x - C(s) * conjugate(phase) * y;
      a(i, q) = C(s) * phase * x + C(c) * y;
    }
  }
};

constexpr int most_sweeps = 60;
constexpr double rounding = 0x1p-53;

inline std::vector<int64_t> sorted(const std::vector<double>& x, bool descending) {
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return descending ? x[i] > x[j] : x[i] < x[j]; });
  return order;
}
template <class C> Matrix<C> chosen_columns(const Matrix<C>& a, const std::vector<int64_t>& order) {
  Matrix<C> b(a.rows, static_cast<int64_t>(order.size()));
  for (int64_t i = 0; i < a.rows; i++)
    for (int64_t j = 0; j < b.columns; j++) b(i, j) = a(i, order[j]);
  return b;
}

// The Hermitian matrix of the lower triangle.
template <class C> void mirror(Matrix<C>& a) {
  for (int64_t i = 0; i < a.rows; i++) {
    a(i, i) = C(real(a(i, i)));
    for (int64_t j = i + 1; j < a.rows; j++) a(i, j) = conjugate(a(j, i));
  }
}

template <class C> struct HermitianSpectrum { std::vector<double> values; Matrix<C> vectors; int32_t info; };
template <class C> HermitianSpectrum<C> eigh(Matrix<C> a) {
  mirror(a);
  const int64_t n = a.rows;
  Matrix<C> v = Matrix<C>::identity(n, n);
  double norm = 0;
  for (const C& x : a.values) norm = std::hypot(norm, magnitude(x));
  bool turned = n > 1;
  for (int sweep = 0; turned && sweep < most_sweeps; sweep++) {
    turned = false;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        if (!(magnitude(a(p, q)) > rounding * norm / 8)) continue;
        turned = true;
        const Rotation<C> r(real(a(p, p)), a(p, q), real(a(q, q)));
        r.columns(a, p, q);
        r.rows(a, p, q);
        r.columns(v, p, q);
        a(p, q) = a(q, p) = C(0);
      }
  }
  std::vector<double> w(n);
  for (int64_t i = 0; i < n; i++) w[i] = real(a(i, i));
  const auto order = sorted(w, false);
  Matrix<C> vectors = chosen_columns(v, order);
  std::sort(w.begin(), w.end());
  return {w, vectors, turned ? 1 : 0};
}

// Columns from `known` on become an orthonormal basis of what the first ones leave.
template <class C> void complete(Matrix<C>& u, int64_t known) {
  for (int64_t j = known, unit = 0; j < u.columns; unit++) {
    std::vector<C> x(u.rows, C(0));
    x[unit] = C(1);
    for (int pass = 0; pass < 2; pass++)
      for (int64_t k = 0; k < j; k++) {
        C dot(0);
        for (int64_t i = 0; i < u.rows; i++) dot += conjugate(u(i, k)) * x[i];
        for (int64_t i = 0; i < u.rows; i++) x[i] = x[i] - dot * u(i, k);
      }
    double norm = 0;
    for (const C& c : x) norm = std::hypot(norm, magnitude(c));
    if (norm < 1 / (2 * std::sqrt(static_cast<double>(u.rows)))) continue;   // nearly inside: some later unit vector is not
    for (int64_t i = 0; i < u.rows; i++) u(i, j) = x[i] / C(norm);
    j++;
  }
}

template <class C> struct SingularSpectrum { Matrix<C> u; std::vector<double> values; Matrix<C> v; int32_t info; };
// a = u s v^H; u and v have `full` or min(rows, columns) columns.
template <class C> SingularSpectrum<C> svd(Matrix<C> a, bool full) {
  if (a.rows < a.columns) {
    SingularSpectrum<C> t = svd(dense::adjoint(a), full);
    return {std::move(t.v), std::move(t.values), std::move(t.u), t.info};
  }
  const int64_t m = a.rows, n = a.columns;
  Matrix<C> v = Matrix<C>::identity(n, n);
  bool turned = n > 1;
  for (int sweep = 0; turned && sweep < most_sweeps; sweep++) {
    turned = false;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        double alpha = 0, beta = 0;
        C gamma(0);
        for (int64_t i = 0; i < m; i++) {
          alpha += real(conjugate(a(i, p)) * a(i, p));
          beta += real(conjugate(a(i, q)) * a(i, q));
          gamma += conjugate(a(i, p)) * a(i, q);
        }
        if (!(magnitude(gamma) > 4 * rounding * std::sqrt(alpha * beta)) || magnitude(gamma) < 1e-300) continue;
        turned = true;
        const Rotation<C> r(alpha, gamma, beta);
        r.columns(a, p, q);
        r.columns(v, p, q);
      }
  }
  std::vector<double> s(n, 0);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) s[j] = std::hypot(s[j], magnitude(a(i, j)));
  const auto order = sorted(s, true);
  std::sort(s.rbegin(), s.rend());
  Matrix<C> u(m, full ? m : n);
  int64_t known = 0;
  for (; known < n && s[known] > (n ? s[0] : 0) * rounding * 0x1p-40; known++)
    for (int64_t i = 0; i < m; i++) u(i, known) = a(i, order[known]) / C(s[known]);
  complete(u, known);
  return {std::move(u), s, chosen_columns(v, order), turned ? 1 : 0};
}

}  // namespace adjoint::dense
