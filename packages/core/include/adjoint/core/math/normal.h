// The normal distribution: the logarithm of its probabilities, and its quantile function, by the inverse of the error function at 1 - c, c twice the smaller probability.
#pragma once
#include <adjoint/core/math/error_function.h>

namespace adjoint::math {

namespace detail {

// A step of Halley, towards erf(x) = a in the middle and log erfc(x) = log c in the tails.
[[gnu::always_inline]] inline double ndtri_step(double x, double a, double log_c) {
  const double z = x * x, middle = (a - x * erf_small(z)) * 0.88622692545275801 * exp(z);
  const double e = erfcx(x), slope = 1.1283791670955126 / e;   // of -log erfc
  const double tail = ((log(e) - z) - log_c) / slope;
  const double d = x < .5 ? middle : tail, bend = x < .5 ? x : x - .5 * slope;
  return x + d / (1 - d * bend);
}
// `size` with p's sign beside 1/2, and the ends.
[[gnu::always_inline]] inline double signed_quantile(double p, double q, double size) {
  const double x = q == 0 ? infinity<double> : size;
  return p >= 0 && p <= 1 ? (p < .5 ? -x : x) : nan<double>;
}

}  // namespace detail

[[gnu::always_inline]] inline double ndtri(double p) {
  const double q = p > .5 ? 1 - p : p, c = 2 * q, a = 1 - c;
  const double log_c = log(c), w = -(log_c + log(1 + a)), far = (std::sqrt(w) - 15.68) * 0.08605851979345955;
  // Right to 2^-17, and to 2^-34 in the middle; the step cubes the error.
  const double tail = poly(far, 0x1.f312253a9bcc7p+3, 0x1.7513f7f92ae94p+3, -0x1.4759cf1da483fp-6, 0x1.7d2ad442bc531p-7, -0x1.9d378d60a2456p-8,
                           -0x1.7af7e589d3410p-9, 0x1.b16924c75b454p-9, 0x1.67babe9e01e62p-7, -0x1.135ed84856550p-7, -0x1.fd0e837fbe7dep-8,
                           0x1.a2e2aa88712fap-8);
  const double x = detail::ndtri_step(a * (w < 16.5 ? detail::erfinv_ratio(w) : tail), a, log_c);
  return detail::signed_quantile(p, q, x * 1.4142135623730951);
}
// From 10^-16 up; unknown below.
[[gnu::always_inline]] inline double ndtri_partial(double p) {
  const double q = p > .5 ? 1 - p : p, c = 2 * q, a = 1 - c, w = -detail::log_positive(c * (1 + a));
  const double y = detail::signed_quantile(p, q, a * detail::erfinv_quotient(w) * 1.4142135623730951);
  return (w > 36.1) & (p > 0) & (p < 1) ? unknown : y;
}
// Beyond what erfinv of floats has, an own fit to 2^-30.
[[gnu::always_inline]] inline float ndtri(float y) {
  const double p = static_cast<double>(y), q = p > .5 ? 1 - p : p, a = 1 - 2 * q, w = -detail::log_short(detail::split(2 * q * (1 + a)));
  const double far = (std::sqrt(w) - 7.105) * 0.3284072249589491;
  const double tail = poly(far, 0x1.be6508609354ap+2, 0x1.89118023f747cp+1, -0x1.361499d390cfap-8, 0x1.fff9c3afccae7p-13, 0x1.d9d751331ed1ap-12,
                           -0x1.875b0320701f3p-12, 0x1.ccb4aafc629b6p-13, -0x1.fa6f9cec219c6p-14, 0x1.f0c5619fe9a7cp-15, -0x1.1261fdd570542p-16,
                           0x1.930f93b223d0ap-18, -0x1.6ca0f1e50129fp-17, 0x1.67cc45199eccdp-18);
  return static_cast<float>(detail::signed_quantile(p, q, a * (w < 16.5 ? detail::erfinv_ratio(w) : tail) * 1.4142135623730951));
}

// log Phi(x): log erfcx(a) / 2 - x^2 / 2 below 0, where nothing cancels, and log(1 - Phi(-x)) above. is_short: for floats.
template <bool is_short> [[gnu::always_inline]] inline double log_ndtr(double x) {
  const double size = abs(x), square = .5 * x * x, a = size * 0.70710678118654752, inverse = 1 / a, r = inverse * inverse;
  const double far = inverse * 0.5641895835477563 * poly(r, 1., -.5, .75, -1.875, 6.5625, -29.53125);
  double e, lower, upper;
  if constexpr (is_short) {
    e = .5 * (a < 10.6 ? detail::erfcx_short(a) : far);
    const double q = e * detail::exp_short(-clamp(square, 0., 200.));
    lower = detail::log_short(detail::split(e));
    upper = q < .25 ? detail::log1p_small_short(-q) : detail::log_short(detail::split(1 - q));
  } else {
    e = .5 * (a < 27.5 ? detail::erfcx(a) : far);
    const bool vanishes = size > 38.6;
    const double q = vanishes ? 0. : detail::exp_minus_square_raised(vanishes ? 0. : size, .5, e) * 0x1p-100;
    lower = detail::log_positive(e);
    upper = q < .25 ? detail::log_sum(-q, 0., 0.) : detail::log_positive(1 - q);
  }
  const double y = x < 0 ? lower - square : upper;
  return x == x ? y : x;
}

}  // namespace adjoint::math
