// Scalar functions of the records of special functions.
#pragma once
#include <adjoint/core/functors/number.h>
#include <adjoint/core/math/bessel.h>
#include <adjoint/core/math/gamma.h>
#include <adjoint/core/math/normal.h>

namespace adjoint::functors {

template <double (*f)(int, double)> struct OfOrder {
  int n;
  explicit OfOrder(const Attrs& a) : n(static_cast<int>(a.as<Order>().n)) {}
  template <Real T> T operator()(T x) const { return static_cast<T>(f(n, static_cast<double>(x))); }
};

// -x log(x); 0 at 0.
struct Entr {
  template <Real T> T operator()(T x) const {
    const T y = x > 0 || is_nan(x) ? -x * math::log(x) : T(0);
    return x < 0 ? -math::infinity<T> : y;
  }
};

struct LogNdtr {
  float operator()(float x) const { return static_cast<float>(math::log_ndtr<true>(x)); }
  double operator()(double x) const { return exactly(x); }

 private:
  [[gnu::noinline]] static double exactly(double x) { return math::log_ndtr<false>(x); }
};
struct Ndtri { template <Real T> T operator()(T p) const { return math::ndtri(p); } };

// From s = 2^52 on the first term is the sum, as far as doubles tell.
struct Zeta {
  template <Real T> T operator()(T s, T q) const {
    const double power = static_cast<double>(s), point = static_cast<double>(q);
    if (power >= 0x1p52 && point > 0) return static_cast<T>(math::pow(point, -power));
    return static_cast<T>(math::zeta(power, point));
  }
};

// p of degree k + 1 is (a x + b) p of degree k - c p of degree k - 1, from p of degree 0, which is 1 (Abramowitz and Stegun, table 22.7).
struct Recurrence { double a, b, c; };
inline Recurrence recurrence(const Polynomials& p, int64_t k) {
  const double i = static_cast<double>(k), t = p.parameter;
  switch (p.family) {
    case Family::chebyshev_t: return {k ? 2. : 1., 0, 1};
    case Family::chebyshev_v: return {2, k ? 0. : -1., 1};
    case Family::chebyshev_w: return {2, k ? 0. : 1., 1};
    case Family::gegenbauer: return {2 * (i + t) / (i + 1), 0, (i + 2 * t - 1) / (i + 1)};
    case Family::hermite: return {2, 0, 2 * i};
    case Family::hermite_e: return {1, 0, i};
    default: return {-1 / (i + 1), (2 * i + 1 + t) / (i + 1), (i + t) / (i + 1)};
  }
}

// The degree, or -1 for what is no number that could be counted to.
template <Real T> [[gnu::always_inline]] inline T valid_degree(T n) { return n < T(0x1p63) ? n : T(-1); }

// Of degree n, cut to an integer, at x; 0 of negative degree.
struct OrthogonalPolynomial {
  Polynomials of;
  explicit OrthogonalPolynomial(const Attrs& a) : of(a.as<Polynomials>()) {}
  template <Real T> T operator()(T x, T n) const {
    const T degree = valid_degree(n);
    T p = degree > -1 ? 1 : 0, before = 0;
    for (int64_t k = 0; degree >= static_cast<T>(k + 1); k++) {
      const auto [a, b, c] = recurrence(of, k);
      const T next = (static_cast<T>(a) * x + static_cast<T>(b)) * p - static_cast<T>(c) * before;
      before = p;
      p = next;
    }
    return p;
  }
};

}  // namespace adjoint::functors
