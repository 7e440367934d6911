// asin, acos, atan, atan2: one polynomial each on a short interval, brought there by identities.
#pragma once

#include <adjoint/core/math/bits.h>

namespace adjoint::math {

namespace detail {

// pi/2 = half_pi + half_pi_low.
inline constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

// (asin(x) / x - 1) / z in z = x^2 <= 1/4; errors 2^-32 and 2^-60.
[[gnu::always_inline]] inline float asin_tail(float z) {
  return poly(z, 1.666665986e-01f, 7.500512000e-02f, 4.451548860e-02f, 3.181971053e-02f, 1.439412326e-02f,
              3.757780272e-02f);
}
[[gnu::always_inline]] inline double asin_tail(double z) {
  return poly(z, 0x1.5555555555578p-3, 0x1.333333332df09p-4, 0x1.6db6db722beb9p-5, 0x1.f1c71a8b6ec6ap-6,
              0x1.6e8bdfeb2d29dp-6, 0x1.1c49ddb71420ep-6, 0x1.ca214a9740302p-7, 0x1.75775ea2b155dp-7,
              0x1.618ba61144406p-7, 0x1.e14eac4f1db0ep-9, 0x1.65057b9fcebc9p-6, -0x1.59fb00c0f76a4p-6,
              0x1.0be5afb4cbb0ep-5);
}

// (atan(x) / x - 1) / z in z = x^2: up to x = 1 for float, up to tan(pi/8) for double; errors 2^-28 and 2^-60.
[[gnu::always_inline]] inline float atan_tail(float z) {
  return poly(z, -3.333329909e-01f, 1.999854832e-01f, -1.426424199e-01f, 1.095218734e-01f, -8.403454983e-02f,
              5.795767570e-02f, -3.117792940e-02f, 1.091465094e-02f, -1.793631762e-03f);
}
[[gnu::always_inline]] inline double atan_tail(double z) {
  return poly(z, -0x1.555555555553dp-2, 0x1.9999999995860p-3, -0x1.24924922ad858p-3, 0x1.c71c70e62a927p-4,
              -0x1.745cf8df5f7b6p-4, 0x1.3b111941cf02dp-4, -0x1.10ebb8f516322p-4, 0x1.df0f4437ae092p-5,
              -0x1.9cd24af0ac5c2p-5, 0x1.37d3a97777897p-5, -0x1.25642017e1b6ep-6);
}

// atan(y / x) for y, x >= 0, not both 0 or infinite, with one division:
// atan(y/x), pi/4 + atan((y - x) / (y + x)) or pi/2 - atan(x/y).
[[gnu::always_inline]] inline double atan_quotient(double y, double x) {
  const bool low = 2.414213562373095 * y <= x, high = y > 2.414213562373095 * x;
  const double numerator = low ? y : (high ? -x : y - x);
  const double denominator = low ? x : (high ? y : y + x);
  const double eighths = low ? 0. : (high ? 1. : .5);  // of pi/2
  const double t = numerator / denominator, z = t * t;
  return eighths * half_pi + (t + (t * z * atan_tail(z) + eighths * half_pi_low));
}

}  // namespace detail

// Above 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
template <std::floating_point T>
[[gnu::always_inline]] inline T asin(T x) {
  const T a = abs(x);
  const bool large = a > T(.5);
  const T z = large ? (1 - a) * T(.5) : a * a;
  const T s = large ? std::sqrt(z) : a;
  const T tail = s * z * detail::asin_tail(z);
  constexpr T high = T(detail::half_pi), low = T(detail::half_pi - double(high) + detail::half_pi_low);
  const T y = large ? high - (2 * s - (low - 2 * tail)) : s + tail;
  return std::copysign(y, x);
}

template <std::floating_point T>
[[gnu::always_inline]] inline T acos(T x) {
  const T a = abs(x);
  const bool large = a > T(.5);
  const T z = large ? (1 - a) * T(.5) : a * a;
  const T s = large ? std::sqrt(z) : x;
  const T tail = s * z * detail::asin_tail(z);
  constexpr T high = T(detail::half_pi), low = T(detail::half_pi - double(high) + detail::half_pi_low);
  const T middle = high - (s - (low - tail));
  const T near_one = 2 * (s + tail);
  const T near_minus_one = 2 * (high - (s - (low - tail)));
  return large ? (x < 0 ? near_minus_one : near_one) : middle;
}

// The angle of the point (x, y), C's special cases included. The smaller of |y| and |x| over the larger is at most 1, and the
// angle is a multiple of pi/2 plus or minus its arctangent.
[[gnu::always_inline]] inline float atan2(float y, float x) {
  const float a = abs(y), b = abs(x);
  const bool steep = a > b;
  const float larger = steep ? a : b, smaller = steep ? b : a, diagonal = larger > 0 ? 1.f : 0.f;
  const float quotient = smaller / larger;
  const float t = smaller == larger ? diagonal : quotient;  // also where both are 0 or infinite
  const float z = t * t, angle = t + t * z * detail::atan_tail(z);
  const float side = std::copysign(1.f, x), quarters = steep ? 1.f : 1.f - side;
  constexpr float high = float(detail::half_pi), low = float(detail::half_pi - double(high));
  return std::copysign(quarters * high + (quarters * low + (steep ? -angle : angle) * side), y);
}
// The quotient has an eighth of a turn taken off where it is beyond tan(pi/8), and multiples of pi/2 are added last.
[[gnu::always_inline]] inline double atan2(double y, double x) {
  const double a = abs(y), b = abs(x);
  const bool steep = a > b;
  const double larger = steep ? a : b, smaller = steep ? b : a, factor = larger > 1 ? .25 : 1.;   // the sum must not overflow
  const double c = smaller * factor, d = larger * factor, diagonal = larger > 0 ? .5 : 0.;
  const bool low = 2.414213562373095 * c <= d;
  const double quotient = (low ? c : c - d) / (low ? d : c + d), beyond = low ? 0. : .5;
  const double eighths = smaller == larger ? diagonal : beyond, side = std::copysign(1., x), turn = steep ? -side : side;
  const double t = smaller == larger ? 0. : turn * quotient, z = t * t;   // also where both are 0 or infinite
  const double quarters = (steep ? 1. : 1. - side) + turn * eighths;
  return std::copysign(quarters * detail::half_pi + (t + (t * z * detail::atan_tail(z) + quarters * detail::half_pi_low)), y);
}

[[gnu::always_inline]] inline float atan(float x) { return atan2(x, 1.f); }
[[gnu::always_inline]] inline double atan(double x) { return std::copysign(detail::atan_quotient(abs(x), 1), x); }

}  // namespace adjoint::math
