// lgamma, digamma, polygamma, zeta: scalar code, computed in double for both types.
#pragma once

#include <adjoint/core/math/bits.h>

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
  return pi / std::tan(pi * fraction);
}

// log x minus the series of Bernoulli numbers, for x >= 10.
inline double digamma_large(double x) {
  const double w = 1 / (x * x);
  const double series = w * poly(w, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12);
  return (std::log(x) - .5 / x) - series;
}

// The first root of digamma, in two parts, and a fit of digamma / d around it to 2^-56: the recurrence cancels near it.
inline double digamma_near_root(double x) {
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
inline T digamma(T value) {
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

namespace detail {

// The sum of (q + k)^-s over k >= 0 for q > 0, s > 1: twelve terms, then Euler and Maclaurin's series.
inline double zeta_positive(double s, double q) {
  double sum = 0;
  for (int k = 0; k < 12; k++, q += 1) sum += std::pow(q, -s);
  // B_2k / (2k)!, the coefficients of s (s + 1) ... (s + 2k - 2) q^(1 - s - 2k).
  constexpr double coefficient[] = {1. / 12,        -1. / 720,           1. / 30240,        -1. / 1209600, 1. / 47900160,
                                    -691. / 1307674368000., 1. / 74724249600., -3617. / 10670622842880000.};
  const double power = std::pow(q, -s);
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
inline double zeta(double s, double q) {
  if (s == 1) return infinity<double>;
  if (!(s > 1) || q == -infinity<double>) return nan<double>;
  if (q == infinity<double>) return 0;
  if (!(q <= 0)) return detail::zeta_positive(s, q);
  if (q == std::floor(q)) return infinity<double>;
  if (s != std::floor(s)) return nan<double>;
  const double d = q - std::nearbyint(q), parity = std::fmod(s, 2) == 0 ? 1 : -1;
  return std::pow(d, -s) + (detail::zeta_positive(s, 1 + d) +
                            parity * (detail::zeta_positive(s, 1 - d) - detail::zeta_positive(s, 1 - q)));
}

// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
template <std::floating_point T>
inline T polygamma(int n, T x) {
  if (n == 0) return digamma(x);
  return static_cast<T>((n % 2 ? 1 : -1) * std::tgamma(n + 1.) * zeta(n + 1., x));
}
template <std::floating_point T>
inline T trigamma(T x) {
  return polygamma(1, x);
}

}  // namespace adjoint::math
