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

namespace detail {

// C's special cases for |x|^y, the magnitude: signs, NaN, and powers that are 1. The flags are numbers: a bool made of
// comparisons of two widths is not vectorised.
template <std::floating_point T>
[[gnu::always_inline]] inline T pow_special(T x, T y, T magnitude) {
  constexpr T all_whole = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  const T ay = abs(y), half = T(.5) * ay;
  const T whole = ay < all_whole ? (ay + all_whole) - all_whole : ay;
  const T half_whole = half < all_whole ? (half + all_whole) - all_whole : half;
  const T fractional = whole != ay ? T(1) : T(0);
  const T odd = half_whole != half ? 1 - fractional : T(0);
  T invalid = x < 0 ? fractional : T(0);
  invalid = abs(x) < infinity<T> ? invalid : T(0);
  const T unit = x == -1 ? (ay == infinity<T> ? T(1) : T(0)) : T(0);

  T r = odd > 0 ? std::copysign(magnitude, x) : magnitude;
  r = invalid > 0 ? nan<T> : r;
  r = unit > 0 ? T(1) : r;
  r = y == 0 ? T(1) : r;
  return x == 1 ? T(1) : r;
}

// A number as the sum of two, the second below half a unit in the last place of the first.
struct Twofold {
  double high, low;
};
// a + b without loss, for |a| >= |b| or a = 0 (Dekker, 1971).
[[gnu::always_inline]] inline Twofold fast_sum(double a, double b) {
  const double s = a + b;
  return {s, (a - s) + b};
}
// a b without loss: of halves of 26 and 27 bits (Dekker, 1971).
[[gnu::always_inline]] inline Twofold product(double a, double b) {
  constexpr int64_t upper = ~((int64_t(1) << 27) - 1);
  const double p = rounded(a * b), ah = from_bits(to_bits(a) & upper), bh = from_bits(to_bits(b) & upper), al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
[[gnu::always_inline]] inline Twofold product(Twofold a, Twofold b) {
  const Twofold p = product(a.high, b.high);
  return {p.high, p.low + (a.high * b.low + a.low * b.high)};
}

// log x to 2^-65 for positive x: 2 atanh(s) of s = (m - 1) / (m + 1), whose series begins 2 s + s^3 (2/3 + 2/5 s^2 + ...).
[[gnu::always_inline]] inline Twofold log_twofold(double x) {
  const auto [m, e] = split_any(x);
  const double f = m - 1, d = m + 1, d_low = m - (d - 1);
  const double quotient = f / d;
  const Twofold back = product(quotient, d);
  const Twofold s = {quotient, (((f - back.high) - back.low) - quotient * d_low) / d};
  const Twofold z = product(s, s);
  const double rest = z.high * poly(z.high, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21, 2. / 23, 2. / 25);
  Twofold series = fast_sum(0x1.5555555555555p-1, rest);  // 2/3 has a second part
  series.low += 0x1.5555555555555p-55;
  const Twofold tail = product(s, product(z, series));
  const Twofold log_m = fast_sum(2 * s.high, tail.high);
  const Twofold sum = fast_sum(e * 0x1.62e42fee00000p-1, log_m.high);
  return fast_sum(sum.high, sum.low + (log_m.low + (2 * s.low + tail.low) + e * 0x1.a39ef35793c76p-33));
}

// e^(x.high + x.low).
[[gnu::always_inline]] inline double exp_twofold(Twofold x) {
  const double shifted = x.high * 1.4426950408889634 + round_magic<double>, n = shifted - round_magic<double>;
  const double a = x.high - n * 0x1.62e42feep-1, b = n * 0x1.a39ef35793c76p-33, r = a - b;
  const double low = ((a - r) - b) + x.low, power = expm1_small(r);
  return scale(1 + (power + low * (1 + power)), to_bits(shifted) - to_bits(round_magic<double>));
}

}  // namespace detail

// e^(y log x) in double arithmetic leaves 0.51 ulp.
[[gnu::always_inline]] inline float pow(float x, float y) {
  const double a = abs(static_cast<double>(x));
  double l = detail::log_short(detail::split(a));
  l = a < infinity<double> ? l : a;
  l = a == 0 ? -infinity<double> : l;
  l = clamp(l * y, -120., 120.);
  return detail::pow_special(x, y, static_cast<float>(detail::exp_short(l)));
}
// The logarithm has twice the bits, as a power magnifies its error. Exponents beyond 2^65 overflow for all but 1.
[[gnu::always_inline]] inline double pow(double x, double y) {
  const double a = abs(x), exponent = clamp(y, -0x1p65, 0x1p65);
  const detail::Twofold l = detail::log_twofold(a);
  detail::Twofold p = detail::product(exponent, l.high);
  p.low += exponent * l.low;
  double high = p.high;
  high = a < infinity<double> ? high : a * y;
  high = a == 0 ? -infinity<double> * y : high;
  const double limited = clamp(high, -760., 720.);
  return detail::pow_special(x, y, detail::exp_twofold({limited, limited == p.high ? p.low : 0.}));
}

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
