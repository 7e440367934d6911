// The exponential of a matrix: the Pade approximant of degree 13, scaled and squared (Higham, SIAM J. Matrix Anal. Appl. 26, 2005).
#pragma once
#include <adjoint/core/complex.h>

#include <cmath>
#include <utility>
#include <vector>

namespace adjoint {

// a = exp(a) for row-major a (n, n), with multiply(x, y, out): out = x y, and solve(x, y): y = x^-1 y, which may spoil x.
template <class T, class Multiply, class Solve> void matrix_exp(std::vector<T>& a, int64_t n, Multiply&& multiply, Solve&& solve) {
  using R = real_t<T>;
  using M = std::vector<T>;
  constexpr double b[] = {64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600., 670442572800.,
                          33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.};
  constexpr double largest = 5.371920351148152;   // the norm up to which the approximant has double precision
  const auto length = [](T x) { if constexpr (is_complex_v<T>) return std::hypot(static_cast<double>(x.re), static_cast<double>(x.im)); else return std::fabs(static_cast<double>(x)); };
  double norm = 0;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += length(a[i * n + j]);
    norm = sum > norm || sum != sum ? sum : norm;
  }
  if (!std::isfinite(norm)) {
    for (T& x : a) x = T(static_cast<R>(NAN));
    return;
  }
  const int squarings = norm > largest ? static_cast<int>(std::ceil(std::log2(norm / largest))) : 0;
  const R scale = static_cast<R>(std::ldexp(1., -squarings));
  for (T& x : a) x = x * scale;
  M a2(n * n), a4(n * n), a6(n * n), w(n * n), u(n * n), v(n * n);
  multiply(a, a, a2);
  multiply(a2, a2, a4);
  multiply(a4, a2, a6);
  // c6 a6 + c4 a4 + c2 a2 + c0, into `out`
  const auto combine = [&](M& out, double c6, double c4, double c2, double c0) {
    for (int64_t i = 0; i < n * n; i++)
      out[i] = out[i] + a6[i] * static_cast<R>(c6) + a4[i] * static_cast<R>(c4) + a2[i] * static_cast<R>(c2) + T(i % (n + 1) == 0 ? static_cast<R>(c0) : R(0));
  };
  combine(w, b[13], b[11], b[9], 0);
  multiply(a6, w, v);
  combine(v, b[7], b[5], b[3], b[1]);
  multiply(a, v, u);
  w.assign(n * n, T(0));
  combine(w, b[12], b[10], b[8], 0);
  multiply(a6, w, v);
  combine(v, b[6], b[4], b[2], b[0]);
  for (int64_t i = 0; i < n * n; i++) {   // (v - u)^-1 (v + u)
    a[i] = v[i] + u[i];
    v[i] = v[i] - u[i];
  }
  solve(v, a);
  for (int k = 0; k < squarings; k++) {
    multiply(a, a, w);
    std::swap(a, w);
  }
}

}  // namespace adjoint
