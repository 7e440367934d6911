// The quantile function of the normal distribution: steps of Halley, towards erf(x) = 1 - c in the middle and log erfc(x) = log c in the tails.
#pragma once
#include <adjoint/core/math/error_function.h>

namespace adjoint::math {

namespace detail {

template <bool is_short> [[gnu::always_inline]] inline double log_either(double v) {
  if constexpr (is_short) return log_short(split(v));
  else return log(v);
}
template <bool is_short> [[gnu::always_inline]] inline double ndtri_step(double x, double a, double log_c) {
  const double z = x * x, middle = (a - x * erf_small(z)) * 0.88622692545275801 * (is_short ? exp_short(z) : exp(z));
  const double e = is_short ? erfcx_short(x) : erfcx(x), slope = 1.1283791670955126 / e;   // of -log erfc
  const double tail = ((log_either<is_short>(e) - z) - log_c) / slope;
  const double d = x < .5 ? middle : tail, bend = x < .5 ? x : x - .5 * slope;
  return x + d / (1 - d * bend);
}

}  // namespace detail

// is_short: in forms right to 2^-37, of p that are floats.
template <bool is_short> [[gnu::always_inline]] inline double ndtri(double p) {
  const double q = p > .5 ? 1 - p : p, c = 2 * q, a = 1 - c;
  const double log_c = detail::log_either<is_short>(c), w = log_c + detail::log_either<is_short>(1 + a), b = 2 / (3.14159265358979 * 0.147) + w * .5;
  // Winitzki's closed form is right to 2e-3, and each step cubes the error.
  double x = std::sqrt(std::sqrt(b * b - w / 0.147) - b);
  x = detail::ndtri_step<is_short>(a < 1e-3 ? a * 0.88622692545275801 : x, a, log_c);
  x = detail::ndtri_step<is_short>(x, a, log_c) * 1.4142135623730951;
  x = q == 0 ? infinity<double> : x;
  x = p < .5 ? -x : x;
  return p >= 0 && p <= 1 ? x : nan<double>;
}

}  // namespace adjoint::math
