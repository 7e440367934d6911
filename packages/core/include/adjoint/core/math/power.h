// sqrt, rsqrt, reciprocal, square, pow.
#pragma once

#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

#include <cmath>

namespace adjoint::math {

template <std::floating_point T>
[[gnu::always_inline]] inline T sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
[[gnu::always_inline]] inline T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
template <class T>
[[gnu::always_inline]] inline T reciprocal(T x) {
  return T(1) / x;
}
template <class T>
[[gnu::always_inline]] inline T square(T x) {
  return x * x;
}

// e^(y log x) in double arithmetic leaves 0.51 ulp; then C's special cases. The flags are floats:
// a bool made of comparisons of two widths is not vectorised.
[[gnu::always_inline]] inline float pow(float x, float y) {
  const double a = abs(static_cast<double>(x));
  double l = detail::log_short(detail::split(a));
  l = a < infinity<double> ? l : a;
  l = a == 0 ? -infinity<double> : l;
  l = clamp(l * y, -120., 120.);
  const float magnitude = static_cast<float>(detail::exp_short(l));

  const float ay = abs(y), half = .5f * ay;
  const float whole = ay < 0x1p23f ? (ay + 0x1p23f) - 0x1p23f : ay;
  const float half_whole = half < 0x1p23f ? (half + 0x1p23f) - 0x1p23f : half;
  const float fractional = whole != ay ? 1.f : 0.f;
  const float odd = half_whole != half ? 1.f - fractional : 0.f;
  float invalid = x < 0 ? fractional : 0.f;
  invalid = abs(x) < infinity<float> ? invalid : 0.f;
  const float unit = x == -1 ? (ay == infinity<float> ? 1.f : 0.f) : 0.f;

  float r = odd > 0 ? std::copysign(magnitude, x) : magnitude;
  r = invalid > 0 ? nan<float> : r;
  r = unit > 0 ? 1.f : r;
  r = y == 0 ? 1.f : r;
  return x == 1 ? 1.f : r;
}
[[gnu::always_inline]] inline double pow(double x, double y) { return std::pow(x, y); }

// Integers wrap. A negative exponent leaves what an integer can hold: 1 and -1 to a power, else 0.
template <std::integral T>
inline T pow(T x, T y) {
  using U = std::make_unsigned_t<std::conditional_t<(sizeof(T) < sizeof(int)), int, T>>;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T(1) : (x == T(-1) ? (y % 2 == 0 ? T(1) : T(-1)) : T(0));
  }
  U base = static_cast<U>(x), result = 1;
  for (U n = static_cast<U>(y); n != 0; n >>= 1) {
    if (n & 1) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

}  // namespace adjoint::math
