// round, trunc, floor, ceil, sign, and the divisions with Python's and PyTorch's signs.
//
// A sum with 2^23 or 2^52 rounds: below SSE 4.1 there is no instruction, and libm's calls stop the vectoriser.
#pragma once

#include <adjoint/core/math/bits.h>

#include <cmath>

namespace adjoint::math {

// To the nearest integer, ties to even. For all five, -0 and the sign of a zero result stay.
template <std::floating_point T>
[[gnu::always_inline]] inline T round(T x) {
  constexpr T limit = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  const T a = abs(x), r = (a + limit) - limit;
  return a < limit ? std::copysign(r, x) : x;
}
template <std::floating_point T>
[[gnu::always_inline]] inline T trunc(T x) {
  const T a = abs(x), r = round(a);
  return std::copysign(r > a ? r - 1 : r, x);
}
template <std::floating_point T>
[[gnu::always_inline]] inline T floor(T x) {
  const T r = round(x);
  return r > x ? r - 1 : r;
}
template <std::floating_point T>
[[gnu::always_inline]] inline T ceil(T x) {
  const T r = round(x);
  return std::copysign(r < x ? r + 1 : r, x);
}
template <std::floating_point T>
[[gnu::always_inline]] inline T frac(T x) {
  return x - trunc(x);
}
template <std::integral T>
[[gnu::always_inline]] inline T round(T x) {
  return x;
}

// -1, 0 or 1; 0 for NaN, as PyTorch.
template <class T>
[[gnu::always_inline]] inline T sign(T x) {
  return static_cast<T>((x > T(0) ? 1 : 0) - (x < T(0) ? 1 : 0));
}

// The remainder of trunc(x / y): the sign of x.
template <std::floating_point T>
inline T fmod(T x, T y) {
  return std::fmod(x, y);
}
// Whether the moderate forms below do not hold: the quotient is not below 2^28, or something is not finite.
[[gnu::always_inline]] inline bool is_large_quotient(float x, float y) {
  return !((abs(x) < 0x1p28f * abs(y)) & (abs(y) < infinity<float>));
}
// In double arithmetic the product is exact, and the rounded quotient at most one too large.
[[gnu::always_inline]] inline float fmod_moderate(float x, float y) {
  const double a = abs(static_cast<double>(x)), b = abs(static_cast<double>(y)), quotient = a / b;
  const double nearest = (quotient + 0x1p52) - 0x1p52, whole = nearest > quotient ? nearest - 1 : nearest;
  const double r = a - rounded(whole * b);
  return std::copysign(static_cast<float>(r < 0 ? r + b : r), x);
}

namespace detail {
template <class T>
[[gnu::always_inline]] inline T signed_remainder(T y, T r) {
  return (r != 0) & ((r < 0) != (y < 0)) ? r + y : r;
}
template <class T>
[[gnu::always_inline]] inline T floor_quotient(T x, T y, T r) {
  const T exact = (x - r) / y, quotient = (r != 0) & ((r < 0) != (y < 0)) ? exact - 1 : exact;
  const T whole = floor(quotient), nearest = quotient - whole > T(.5) ? whole + 1 : whole;
  return quotient == 0 ? std::copysign(T(0), x / y) : nearest;
}
}  // namespace detail

// The remainder of floor(x / y): the sign of y, as Python's %.
template <std::floating_point T>
inline T remainder(T x, T y) {
  return detail::signed_remainder(y, std::fmod(x, y));
}
[[gnu::always_inline]] inline float remainder_moderate(float x, float y) { return detail::signed_remainder(y, fmod_moderate(x, y)); }
// floor of the exact quotient. The rounded quotient's floor could be one too large.
template <std::floating_point T>
inline T floor_divide(T x, T y) {
  return y == 0 ? x / y : detail::floor_quotient(x, y, static_cast<T>(std::fmod(x, y)));
}
[[gnu::always_inline]] inline float floor_divide_moderate(float x, float y) { return detail::floor_quotient(x, y, fmod_moderate(x, y)); }

// Integers; the divisor is not 0. Division of the lowest number by -1 wraps instead of trapping.
template <std::integral T>
inline T fmod(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return 0;
  }
  return static_cast<T>(x % y);
}
template <std::integral T>
inline T remainder(T x, T y) {
  const T r = fmod(x, y);
  return (r != 0) & ((r < 0) != (y < 0)) ? static_cast<T>(r + y) : r;
}
template <std::integral T>
inline T trunc_divide(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
  }
  return static_cast<T>(x / y);
}
template <std::integral T>
inline T floor_divide(T x, T y) {
  const T quotient = trunc_divide(x, y), r = fmod(x, y);
  return static_cast<T>(quotient - ((r != 0) & ((r < 0) != (y < 0)) ? 1 : 0));
}
template <std::floating_point T>
[[gnu::always_inline]] inline T trunc_divide(T x, T y) {
  return trunc(x / y);
}

}  // namespace adjoint::math
