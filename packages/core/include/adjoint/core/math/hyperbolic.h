// sinh, cosh, tanh and their inverses, from exp, expm1 and log1p.
#pragma once

#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

namespace adjoint::math {

namespace detail {

// (tanh(x) / x - 1) / z in z = x^2, |x| <= 5/8; errors 2^-27 and 2^-61.
[[gnu::always_inline]] inline float tanh_tail(float z) {
  return poly(z, -3.333328402e-01f, 1.333149323e-01f, -5.374363236e-02f, 2.065096597e-02f, -5.717420591e-03f);
}
[[gnu::always_inline]] inline double tanh_tail(double z) {
  return poly(z, -0x1.5555555555552p-2, 0x1.1111111110c1cp-3, -0x1.ba1ba1b9cf5b5p-5, 0x1.664f48705d610p-6,
              -0x1.226e32c46fbcdp-7, 0x1.d6d3589e8296bp-9, -0x1.7d9c1f4baa0e0p-10, 0x1.350ae2519c2a6p-11,
              -0x1.f10c1ca7e5a70p-13, 0x1.8001fda307293p-14, -0x1.fa5cfe29ede92p-16, 0x1.9549de3679249p-18);
}

}  // namespace detail

template <std::floating_point T>
[[gnu::always_inline]] inline T tanh(T x) {
  constexpr T one_from = sizeof(T) == 4 ? T(10) : T(20);
  const T size = abs(x), a = rounded(size > one_from ? one_from : size), z = a * a;
  const T small = a + a * z * detail::tanh_tail(z);
  const auto [r, n] = detail::reduce_ln2(a + a);
  const T large = 1 - 2 / ((1 + detail::expm1_small(r)) * power_of_two<T>(n) + 1);
  return std::copysign(a < T(.625) ? small : large, x);
}

// e^a / 2 is formed without e^a, which overflows earlier.
template <std::floating_point T>
[[gnu::always_inline]] inline T sinh(T x) {
  const T a = abs(x);
  const T half = detail::exp_scaled(a, -1), em1 = expm1(a > 1 ? T(1) : a);
  const T y = a > 1 ? half - T(.25) / half : T(.5) * (em1 + em1 / (em1 + 1));
  return std::copysign(y, x);
}

template <std::floating_point T>
[[gnu::always_inline]] inline T cosh(T x) {
  const T half = detail::exp_scaled(abs(x), -1);
  return half + T(.25) / half;
}

// log1p(a + a^2 / (1 + sqrt(1 + a^2))); for large a, log(a) + log 2, log(a) = log1p(a - 1).
template <std::floating_point T>
[[gnu::always_inline]] inline T asinh(T x) {
  const T a = abs(x), square = a * a;
  const bool large = a > T(sizeof(T) == 4 ? 0x1p13 : 0x1p28);
  const T y = log1p(large ? a - 1 : a + square / (1 + std::sqrt(1 + square)));
  return std::copysign(large ? y + T(0.69314718055994531) : y, x);
}

// log1p(t + sqrt(t (2 + t))) with t = x - 1.
template <std::floating_point T>
[[gnu::always_inline]] inline T acosh(T x) {
  const T t = x - 1;
  const bool large = x > T(sizeof(T) == 4 ? 0x1p13 : 0x1p28);
  const T y = log1p(large ? t : t + std::sqrt(t * (2 + t)));
  return large ? y + T(0.69314718055994531) : (x < 1 ? nan<T> : y);
}

template <std::floating_point T>
[[gnu::always_inline]] inline T atanh(T x) {
  const T a = abs(x);
  return std::copysign(T(.5) * log1p(2 * a / (1 - a)), x);
}

}  // namespace adjoint::math
