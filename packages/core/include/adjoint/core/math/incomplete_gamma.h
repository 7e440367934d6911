// The regularised incomplete gamma functions P(a, x) and Q = 1 - P, and P's derivative in x: scalar code in double.
#pragma once

#include <adjoint/core/math/error_function.h>
#include <adjoint/core/math/gamma.h>

namespace adjoint::math {

namespace detail {

// log(1 + u) - u without cancellation at small u, by log(1 + u) = 2 atanh(r).
inline double log1p_minus(double u) {
  if (std::fabs(u) > .4) return log1p(u) - u;
  const double r = u / (2 + u), s = r * r;
  double sum = 0;
  for (int k = 33; k >= 3; k -= 2) sum = sum * s + 1. / k;
  return 2 * r * s * sum - u * r;
}

// x^a e^-x / Gamma(a + 1). For large a by Stirling's series, as powers and gamma overflow and their logarithms cancel.
[[gnu::noinline]] inline double gamma_term(double a, double x) {
  if (a < 10) {
    const double root = exp(-x / 2);
    return pow(x, a) * root / std::tgamma(a + 1) * root;
  }
  const double w = 1 / (a * a);
  const double series = poly(w, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156) / a;
  return exp(a * log1p_minus((x - a) / a) - series) / std::sqrt(2 * pi * a);
}

// P by its power series, for x < a + 1.
inline double gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (double n = a + 1; term > sum * 1e-17; n++) sum += term *= x / n;
  return gamma_term(a, x) * sum;
}

// Q for x < a + 1 where a is small and 1 - P has few digits: P = x^a / Gamma(1 + a) (1 + a s), s the sum of (-x)^k / (k! (a + k)).
[[gnu::noinline]] inline double gamma_small(double a, double x) {
  const double log_gamma = a * poly(a, -.57721566490153286, .82246703342411322, -.40068563438653143, .27058080842778454, -.20738555102867398,
                                    .16955717699740819, -.14404989676884612, .12550966952474304, -.11133426586956469);
  double term = 1, sum = 0;
  for (double k = 1; std::fabs(term) > 1e-18; k++) sum += (term *= -x / k) / (a + k);
  const double power = a * log(x) - log_gamma;
  return -expm1(power) - exp(power) * a * sum;
}

// Q by Legendre's continued fraction (Lentz's evaluation), for x >= a + 1.
[[gnu::noinline]] inline double gamma_fraction(double a, double x) {
  double b = x + 1 - a, d = 1 / b, c = 1e300, f = d;
  for (double n = 1, change = 0; std::fabs(change - 1) > 1e-16 && n < 1e5; n++) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    change = c * d;
    f *= change;
  }
  return a * gamma_term(a, x) * f;
}

// P and Q for a >= 10^6 by Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979): the others take sqrt(a) steps.
[[gnu::noinline]] inline double gamma_uniform(double a, double x, bool upper) {
  const double u = (x - a) / a, half = -log1p_minus(u), eta = std::copysign(std::sqrt(2 * half), u);
  const double c0 = poly(eta, -1. / 3, 1. / 12, -2. / 135, 1. / 864, 1. / 2835, -139. / 777600), c1 = poly(eta, -1. / 540, -1. / 288, 1. / 378);
  const double decay = exp(-a * half) / std::sqrt(2 * pi * a), side = upper ? 1 : -1;
  const double rest = decay > 0 ? decay * (c0 + c1 / a) : 0;   // far from a the series is infinite
  return .5 * erfc(side * eta * std::sqrt(a / 2)) + side * rest;
}

[[gnu::noinline]] inline double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity<double> && x == a)) return nan<double>;
  if (x == 0 || a == infinity<double>) return upper;
  if (a == 0 || x == infinity<double>) return !upper;
  if (a >= 1e6) return gamma_uniform(a, x, upper);
  if (upper && a < .01 && x < a + 1) return gamma_small(a, x);
  if (x < a + 1) return upper ? 1 - gamma_series(a, x) : gamma_series(a, x);
  return upper ? gamma_fraction(a, x) : 1 - gamma_fraction(a, x);
}

}  // namespace detail

template <std::floating_point T> inline T igamma(T a, T x) { return static_cast<T>(detail::incomplete_gamma(a, x, false)); }
template <std::floating_point T> inline T igammac(T a, T x) { return static_cast<T>(detail::incomplete_gamma(a, x, true)); }

// x^(a - 1) e^-x / Gamma(a), the derivative of P in x; 0 where 1 / Gamma(a) is.
template <std::floating_point T> inline T gamma_density(T order, T value) {
  const double a = order, x = value;
  if (!(x >= 0)) return nan<T>;
  if (a <= 0 && a == std::floor(a)) return 0;
  if (x == 0) return static_cast<T>(pow(0., a - 1));
  if (a >= 10) return static_cast<T>(detail::gamma_term(a, x) * (a / x));
  const double root = exp(-x / 2);
  return static_cast<T>(pow(x, a - 1) * root / std::tgamma(a) * root);
}

}  // namespace adjoint::math
