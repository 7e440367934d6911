// lgamma, digamma, polygamma, zeta: scalar code, computed in double for both types; and moderate forms of the first two, free of
// branches, for vectorised loops over floats.
#pragma once

#include <adjoint/core/math/log.h>
#include <adjoint/core/math/power.h>
#include <adjoint/core/math/rounding.h>
#include <adjoint/core/math/trig.h>

#include <cmath>

namespace adjoint::math {

// log |Gamma(x)|. C's lgamma also writes the global signgam: a data race between threads.
template <std::floating_point T>
inline T lgamma(T x) {
#if defined(__GLIBC__) || defined(__APPLE__)
  int sign;
  return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
#else
  return static_cast<T>(std::lgamma(static_cast<double>(x)));
#endif
}

namespace detail {

inline constexpr double pi = 3.14159265358979323846;

// pi / tan(pi x) with the whole part of x taken off first.
inline double pi_cot(double x) {
  const double fraction = x - std::nearbyint(x);
  return pi / tan(pi * fraction);
}

// log x minus the series of Bernoulli numbers, for x >= 10.
inline double digamma_large(double x) {
  const double w = 1 / (x * x);
  const double series = w * poly(w, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12);
  return (log(x) - .5 / x) - series;
}

// The first root of digamma, in two parts, and a fit of digamma / d around it to 2^-56: the recurrence cancels near it.
[[gnu::always_inline]] inline double digamma_near_root(double x) {
  const double d = (x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54;
  return d * poly(d, 0x1.ef72bc8ee38acp-1, -0x1.c563b54aa1a3dp-2, 0x1.08b4294d5039bp-2, -0x1.4fc1317256d6fp-3,
                  0x1.b9a5b6370b104p-4, -0x1.27baba26c81c7p-4, 0x1.8fce02b445179p-5, -0x1.0fa7ec0218a76p-5,
                  0x1.723d67830540fp-6, -0x1.f97062adc29e0p-7, 0x1.5955debb54e57p-7, -0x1.d8261626ee952p-8,
                  0x1.42dfba55ecba8p-8, -0x1.b9d2eb5a3201ap-9, 0x1.2e43cd2dc43ddp-9, -0x1.9bb21a0bcb63cp-10,
                  0x1.1955f2d29ead0p-10, -0x1.9147b315d0551p-11, 0x1.1497b43e90461p-11, -0x1.170d8350206d4p-12,
                  0x1.6bcf0a7dc0563p-13, -0x1.4a8357e82ba5fp-12, 0x1.ddbc3c0c4ec79p-13, 0x1.c8200e1e82eedp-14,
                  -0x1.6205101fd2da2p-14, -0x1.3c7c28af3c9ccp-13, 0x1.c054d5b1ee31ep-14);
}

}  // namespace detail

// PyTorch's conventions: -+infinity at +-0, NaN at the other poles.
template <std::floating_point T>
[[gnu::noinline]] inline T digamma(T value) {
  double x = value;
  if (x == 0) return static_cast<T>(std::copysign(infinity<double>, -x));
  if (x < 0 && (std::floor(x) == x)) return nan<T>;
  double result = 0;
  if (x < 0) {
    result = -detail::pi_cot(x);
    x = 1 - x;
  }
  if (abs(x - 1.4616321449683623) < .65) return static_cast<T>(result + detail::digamma_near_root(x));
  double steps = 0;
  for (; x < 10; x += 1) steps += 1 / x;
  return static_cast<T>(result + (detail::digamma_large(x) - steps));
}

// Whether the moderate forms do not hold: 0, the poles below it, what is not finite, and what has no fraction anyway.
[[gnu::always_inline]] inline bool is_hard_for_gamma(float x) {
  return (!(abs(x) < 0x1p22f)) | ((x <= 0) & (round(x) == x));
}
// In double arithmetic for a float result, to 2^-35: a polynomial around the roots 1 and 2, Stirling's series from 8 on, x + 6 for what
// is between, 1 - x for what is below 1/2.
[[gnu::always_inline]] inline float lgamma_moderate(float x_single) {
  const double x = x_single, z = x < .5 ? 1 - x : x, t = z - 1.5;
  const double near_roots = (t + .5) * (t - .5) * poly(t, 0x1.eeb95b093ff94p-2, -0x1.2aed059bc6578p-3, 0x1.01af62d90d80bp-4,
      -0x1.007aa88370c63p-5, 0x1.1333fb0b26283p-6, -0x1.34dba5f35ef32p-7, 0x1.64fbfce751cf3p-8, -0x1.a5125190f00fdp-9,
      0x1.f65eff13b5582p-10, -0x1.30234b5254147p-10, 0x1.87ed5a1156be1p-11, -0x1.e3b59a3cd026cp-12, 0x1.337ecd4da1220p-13,
      -0x1.72204c16f9ff2p-14, 0x1.93ce8ea24d78cp-12, -0x1.031eee8177d49p-12, -0x1.802449fae9162p-12, 0x1.f245da45bbcacp-13,
      0x1.9e38d08ca74c6p-12, -0x1.0bafe41c76623p-12, -0x1.a1821eba637dbp-13, 0x1.0e0e2f851985ep-13, 0x1.d095d318541d5p-15,
      -0x1.2c0e36375e92ap-15);
  const bool between = z < 8;
  const double product = ((z * (z + 1)) * ((z + 2) * (z + 3))) * ((z + 4) * (z + 5));
  const double large = between ? z + 6 : z, w = 1 / large;
  const double series = w * poly(w * w, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680);
  const double stirling = ((large - .5) * log(large) - large) + (0.91893853320467274 + series);
  // One logarithm of what both cases of z and the reflection divide by.
  const bool is_near = z <= 2.5, reflected = x < .5;
  const double divisor = (between & !is_near) ? product : 1., sine = abs(sin_moderate(detail::pi * (x - round(x))));
  const double rest = log(reflected ? sine / divisor : divisor), positive = is_near ? near_roots : stirling;
  return static_cast<float>((reflected ? 1.1447298858494002 - positive : positive) - rest);
}
// Of doubles, free of branches; unknown where it does not hold: next to the roots below 0, where the two logarithms cancel, at the poles, and for
// what is too large or too small. A polynomial around 2, a product of what lies between it and x, Stirling's series from 8 on.
[[gnu::always_inline]] inline double lgamma_partial(double x) {
  const double a = abs(x);
  const bool large = a >= 8;
  double near = large ? 2 : a, product = 1;
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) {
    const double below = near - 1;
    product = near > 2.28 ? product * below : product;
    near = near > 2.28 ? below : near;
  }
  const double d = a < .28 ? a : a < 1.28 ? a - 1 : near - 2, below = a < .28 ? a * (a + 1) : a;
  const double l = detail::log_positive(large | (a < 1.28) ? below : product), w = 1 / a;
  const double tail = w * poly(w * w, 0x1.5555555554697p-4, -0x1.6c16c10ebc1fdp-9, 0x1.a01870bbd9e6ap-11, -0x1.37523f202b2fep-11, 0x1.8dc010c7f8a92p-11);
  const double around_two = d * (d + 1) * poly_by_two(d, 0x1.b0ee6072093cep-2, -0x1.9ae6509ea1094p-4, 0x1.0e0c9df2936dep-5,
      -0x1.95ce223aa2916p-7, 0x1.4797485324e28p-8, -0x1.145121f35ce2p-9, 0x1.dfebd098b483ap-11, -0x1.a96a443d81534p-12, 0x1.7ed6b2e980bf7p-13,
      -0x1.5c87127a0ba67p-14, 0x1.404d4c4a0a2d5p-15, -0x1.27d45ae4ee1acp-16, 0x1.113b2adc1adfbp-17, -0x1.19be4c694d53p-18,
      0x1.aedf75104fbb3p-20, 0x1.03a00357e5acap-22, 0x1.99ae5996f1c18p-19, 0x1.3a72ee41a6fa2p-19, 0x1.2792d9a8be202p-20);
  const double positive = large ? (a - .5) * (l - 1) + (0.41893853320467274 + tail) : around_two + (a < 1.28 ? -l : l);
  const double sine = abs(sin_moderate(detail::pi * (x - round(x)))), both = detail::log_positive(detail::pi / (a * sine));
  const double y = x < 0 ? both - positive : positive;
  const bool cancels = (x < 0) & ((abs(y) < .5 * abs(both)) | (a > 0x1p22) | (sine == 0));
  return cancels | (a < 1e-150) | (a > 1e300) ? unknown : y;
}
// The same for digamma: six fractions are one quotient. Around its root a fit of its own.
[[gnu::always_inline]] inline float digamma_moderate(float x_single) {
  const double x = x_single, z = x < 0 ? 1 - x : x;
  const bool between = z < 8;
  double top = 1, bottom = z;   // of 1 / z + 1 / (z + 1) + ...
#pragma GCC unroll 7
  for (int k = 1; k < 8; k++) {
    top = top * (z + k) + bottom;
    bottom = bottom * (z + k);
  }
  const double large = between ? z + 8 : z, w = 1 / large, s = w * w;
  const double series = s * poly(s, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760);
  const double asymptotic = (log(large) - .5 * w - series) - (between ? top / bottom : 0.);
  const double positive = abs(z - 1.4616321449683623) < .65 ? detail::digamma_near_root(z) : asymptotic;
  const double d = detail::pi * (x - round(x));
  return static_cast<float>(x < 0 ? positive - detail::pi * cos_moderate(d) / sin_moderate(d) : positive);
}

namespace detail {

// The series of trigamma, without 1 / x + 1 / (2 x^2), by w = 1 / x: from 8 on to 2^-39, from 16 on to 2^-56.
[[gnu::always_inline]] inline double trigamma_series(double w) {
  const double s = w * w;
  return s * w * poly(s, 1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6);
}

}  // namespace detail

// The derivative of digamma.
template <std::floating_point T>
[[gnu::noinline]] inline T trigamma(T value) {
  const double given = value, fraction = given - std::nearbyint(given);
  if (given <= 0 && fraction == 0) return infinity<T>;
  double x = given < 0 ? 1 - given : given, sum = 0;
  for (; x < 16; x += 1) sum += 1 / (x * x);
  const double w = 1 / x, positive = (detail::trigamma_series(w) + (.5 * w * w + sum)) + w, sine = sin(detail::pi * fraction);
  return static_cast<T>(given < 0 ? detail::pi * detail::pi / (sine * sine) - positive : positive);
}
// In double arithmetic for a float result; hard where digamma is. Eight fractions are one quotient.
[[gnu::always_inline]] inline float trigamma_moderate(float x_single) {
  const double x = x_single, z = x < 0 ? 1 - x : x;
  const bool between = z < 8;
  double top = 1, bottom = z * z;
#pragma GCC unroll 7
  for (int k = 1; k < 8; k++) {
    const double square = (z + k) * (z + k);
    top = top * square + bottom;
    bottom *= square;
  }
  const double w = 1 / (between ? z + 8 : z), sum = between ? top / bottom : 0.;
  const double positive = detail::trigamma_series(w) + (.5 * w * w + w) + sum;
  const double sine = sin_moderate(detail::pi * (x - round(x)));
  return static_cast<float>(x < 0 ? detail::pi * detail::pi / (sine * sine) - positive : positive);
}

namespace detail {

// q^-s for q > 0: a few whole powers, which polygamma asks for, as products.
inline double inverse_power(double q, double s) {
  if (s > 8 || s != std::floor(s)) return pow(q, -s);
  double power = 1;
  for (int n = static_cast<int>(s); n; n /= 2, q *= q)
    if (n % 2) power *= q;
  return 1 / power;
}
// The sum of (q + k)^-s over k >= 0 for q > 0, s > 1: twelve terms, then Euler and Maclaurin's series.
[[gnu::noinline]] inline double zeta_positive(double s, double q) {
  double sum = 0;
  for (int k = 0; k < 12; k++, q += 1) sum += inverse_power(q, s);
  // B_2k / (2k)!, the coefficients of s (s + 1) ... (s + 2k - 2) q^(1 - s - 2k).
  constexpr double coefficient[] = {1. / 12,        -1. / 720,           1. / 30240,        -1. / 1209600, 1. / 47900160,
                                    -691. / 1307674368000., 1. / 74724249600., -3617. / 10670622842880000.};
  const double power = inverse_power(q, s);
  sum += q / (s - 1) * power + .5 * power;
  double factor = s * power / q;
  for (int k = 0; k < 8; k++) {
    sum += coefficient[k] * factor;
    factor *= (s + 2 * k + 1) / q * ((s + 2 * k + 2) / q);
  }
  return sum;
}

}  // namespace detail

// Hurwitz's zeta(s, q). For q < 0 and whole s, the sum over all integers less the part below q.
[[gnu::noinline]] inline double zeta(double s, double q) {
  if (s == 1) return infinity<double>;
  if (!(s > 1) || q == -infinity<double>) return nan<double>;
  if (q == infinity<double>) return 0;
  if (!(q <= 0)) return detail::zeta_positive(s, q);
  if (q == std::floor(q)) return infinity<double>;
  if (s != std::floor(s)) return nan<double>;
  const double d = q - std::nearbyint(q), parity = std::fmod(s, 2) == 0 ? 1 : -1;
  return pow(d, -s) + (detail::zeta_positive(s, 1 + d) +
                            parity * (detail::zeta_positive(s, 1 - d) - detail::zeta_positive(s, 1 - q)));
}

// The same for floats, in double arithmetic to 2^-35: six terms before the series, as powers of quotients by q, which lose nothing to a
// large s. Hard is what is not finite, and a sum over terms of both signs.
[[gnu::always_inline]] inline bool is_hard_for_zeta(float s, float q) {
  return (!((abs(s) < infinity<float>) & (abs(q) < infinity<float>))) | ((s > 1) & (round(s) == s) & (q < 0) & (round(q) != q));
}
[[gnu::always_inline]] inline float zeta_moderate(float exponent, float given) {
  const double s = exponent, q = given > 0 ? given : 1.f, first = detail::log_positive(q);
  double sum = 1;
#pragma GCC unroll 5
  for (int k = 1; k < 6; k++) sum += detail::exp_short(-s * (detail::log_positive(q + k) - first));
  const double end = q + 6, w = 1 / end, power = detail::exp_short(-s * (detail::log_positive(end) - first));
  const double u = clamp(s * w, 0., 1e6);  // where more, the power is 0 in truth
  const double series = 1. / 12 - (u + w) * (u + 2 * w) * (1. / 720 - (u + 3 * w) * (u + 4 * w) * (1. / 30240 -
                        (u + 5 * w) * (u + 6 * w) * (1. / 1209600 - (u + 7 * w) * (u + 8 * w) * (1. / 47900160))));
  sum += power * (end / (s - 1) + .5 + u * series);
  const float positive = static_cast<float>(detail::exp_short(-s * first) * sum), at_pole = round(given) == given ? infinity<float> : nan<float>;
  const float result = given > 0 ? positive : at_pole, below = exponent == 1 ? infinity<float> : nan<float>;
  return exponent > 1 ? result : below;
}

// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
template <std::floating_point T>
inline T polygamma(int n, T x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  return static_cast<T>((n % 2 ? 1 : -1) * std::tgamma(n + 1.) * zeta(n + 1., x));
}

}  // namespace adjoint::math
