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
// The remainder of floor(x / y): the sign of y, as Python's %.
template <std::floating_point T>
inline T remainder(T x, T y) {
  const T r = std::fmod(x, y);
  return (r != 0) & ((r < 0) != (y < 0)) ? r + y : r;
}
// floor of the exact quotient. The rounded quotient's floor could be one too large.
template <std::floating_point T>
inline T floor_divide(T x, T y) {
  if (y == 0) return x / y;
  const T r = std::fmod(x, y);
  T quotient = (x - r) / y;
  if ((r != 0) & ((r < 0) != (y < 0))) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), x / y);
  const T whole = floor(quotient);
  return quotient - whole > T(.5) ? whole + 1 : whole;
}

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
