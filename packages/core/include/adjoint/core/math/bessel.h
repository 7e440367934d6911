// Bessel functions of whole order, and the scaled integrals of erfc: scalar code, computed in double for all types.
// Formulas: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 1964, by their numbers.
#pragma once

#include <adjoint/core/math/error_function.h>
#include <adjoint/core/math/hyperbolic.h>
#include <adjoint/core/math/power.h>

#include <cmath>

namespace adjoint::math {

// e^-|x| I_n(x): the power series (9.6.10), whose terms have one sign, up to 30; Hankel's series (9.7.1) beyond.
[[gnu::noinline]] inline double bessel_i_scaled(int n, double x) {
  const double a = abs(x), sign = n % 2 ? std::copysign(1., x) : 1;   // of -0, too
  if (!(a < infinity<double>)) return a == a ? 0 * sign : a;
  double sum = 1, term = 1;
  if (a < 30) {
    for (int k = 1; term > 0x1p-60 * sum; k++) sum += term *= .25 * a * a / (k * (n + k));
    return sign * pow(.5 * a, n) / std::tgamma(n + 1.) * exp(-a) * sum;
  }
  for (int k = 1; k <= 30 && abs(term) > 0x1p-60; k++) sum += term *= ((2 * k - 1.) * (2 * k - 1) - 4. * n * n) / (8 * k * a);
  return sign * sum / std::sqrt(6.283185307179586 * a);
}
[[gnu::noinline]] inline double bessel_i(int n, double x) {
  if (abs(x) == infinity<double>) return n % 2 ? x : infinity<double>;
  const double half = exp(.5 * abs(x));  // e^|x| may overflow where I_n does not
  return bessel_i_scaled(n, x) * half * half;
}

// e^x K_n(x): the integral of e^(x (1 - cosh t)) cosh(n t) over t > 0 (9.6.24), on which the trapezoidal rule converges exponentially.
[[gnu::noinline]] inline double bessel_k_scaled(int n, double x) {
  if (!(x > 0)) return x == 0 ? infinity<double> : nan<double>;
  if (x == infinity<double>) return 0;
  if (x < 1e-8) return exp(x) * (n ? .5 * std::tgamma(n) * pow(2 / x, n) : 0.11593151565841245 - log(x));  // log 2 - Euler's constant
  const double step = std::fmin(.2, .5 / std::sqrt(x));
  double sum = .5, term = 1;
  for (int k = 1; term > 0x1p-60 * sum; k++) {
    const double s = sinh(.5 * k * step);
    sum += term = exp(-2 * x * s * s) * cosh(n * k * step);
    if (!(sum < infinity<double>)) return infinity<double>;
  }
  return sum * step;
}
[[gnu::noinline]] inline double bessel_k(int n, double x) { return bessel_k_scaled(n, x) * exp(-x); }

#if defined(_WIN32)
inline double bessel_j(int n, double x) { return ::_jn(n, x); }
inline double bessel_y(int n, double x) { return x < 0 ? nan<double> : ::_yn(n, x); }
#else
inline double bessel_j(int n, double x) { return ::jn(n, x); }
inline double bessel_y(int n, double x) { return x < 0 ? nan<double> : ::yn(n, x); }
#endif

// e^(x^2) times the n-th repeated integral of erfc from x on; e^(x^2) erfc(x) for n = 0. 2m f_m = f_(m-2) - 2x f_(m-1) (7.2.5) loses
// little upwards for x < 1; from far above downwards, as ratios of neighbours, beyond.
[[gnu::noinline]] inline double erfcx(int n, double x) {
  constexpr double below = 1.1283791670955126;  // f_-1 = 2 / sqrt(pi)
  if (x != x) return x;
  if (x < -27) return infinity<double>;
  if (x < 1) {
    const double square = x * x, rest = std::fma(x, x, -square);
    double f = x < 0 ? 2 * exp(square) * (1 + rest) - detail::erfcx(-x) : detail::erfcx(x), previous = below;
    if (f == infinity<double>) return f;
    for (int m = 1; m <= n; m++) {
      const double next = (previous - 2 * x * f) / (2 * m);
      previous = f;
      f = next;
    }
    return f;
  }
  double y = below, ratio = 0;
  for (int m = n + 20 + static_cast<int>(200 / (x * x)); m >= 0; m--) {
    ratio = 1 / (2 * x + 2 * (m + 1) * ratio);
    if (m <= n) y *= ratio;
  }
  return y;
}

}  // namespace adjoint::math
