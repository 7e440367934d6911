// The bit-level helpers every scalar function is made of: polynomials, powers of two, selects without branches.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace adjoint::math {

template <std::floating_point T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <std::floating_point T>
inline constexpr T nan = std::numeric_limits<T>::quiet_NaN();

// What a form without branches gives where it does not hold: a NaN that no arithmetic makes.
inline constexpr double unknown = std::bit_cast<double>(0x7ff8616b6e6f776e);

// The signed integer as wide as T: masks and exponents stay in lanes of the data's own width.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <std::floating_point T>
[[gnu::always_inline]] inline Bits<T> to_bits(T x) {
  return std::bit_cast<Bits<T>>(x);
}
[[gnu::always_inline]] inline float from_bits(int32_t bits) { return std::bit_cast<float>(bits); }
[[gnu::always_inline]] inline double from_bits(int64_t bits) { return std::bit_cast<double>(bits); }

// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
template <class T, class... C>
[[gnu::always_inline]] inline T poly(T x, T c, C... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c;
  } else {
    return c + x * poly(x, static_cast<T>(rest)...);
  }
}

// The same in two chains, of even and odd powers: half the wait of a long polynomial, where half a last bit more does not matter.
template <class T, class... C> [[gnu::always_inline]] inline T every_other(T z, T c, C... rest);
template <class T, class... C> [[gnu::always_inline]] inline T from_second(T z, T, C... rest) { return every_other(z, static_cast<T>(rest)...); }
template <class T, class... C> [[gnu::always_inline]] inline T every_other(T z, T c, C... rest) {
  if constexpr (sizeof...(rest) < 2) return c;
  else return c + z * from_second(z, static_cast<T>(rest)...);
}
template <class T, class... C> [[gnu::always_inline]] inline T poly_by_two(T x, T c, C... rest) {
  return every_other(x * x, c, rest...) + x * every_other(x * x, static_cast<T>(rest)...);
}

// x, rounded to its type: a product passed through here is not fused into a following addition,
// so that z * conj(z) has the imaginary part 0 on every instruction set.
template <std::floating_point T>
[[gnu::always_inline]] inline T rounded(T x) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_assoc_barrier(x);
#else
  return x;
#endif
}

template <class T>
[[gnu::always_inline]] inline T abs(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else {
    return x < 0 ? static_cast<T>(-x) : x;
  }
}

// Unlike std::min and std::max these take and give values, and x when the comparison fails: NaN in x survives.
template <class T>
[[gnu::always_inline]] inline T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// 2^n for n in the normal range.
template <std::floating_point T>
[[gnu::always_inline]] inline T power_of_two(Bits<T> n) {
  if constexpr (sizeof(T) == 4) {
    return from_bits((n + 127) << 23);
  } else {
    return from_bits((n + 1023) << 52);
  }
}

// x * 2^n for |n| up to twice the normal range: two exact steps, so that a subnormal result is rounded once.
template <std::floating_point T>
[[gnu::always_inline]] inline T scale(T x, Bits<T> n) {
  // An arithmetic shift of 64-bit lanes does not exist below AVX-512; exponents fit 32 bits.
  const Bits<T> half = static_cast<int32_t>(n) >> 1;
  return (x * power_of_two<T>(half)) * power_of_two<T>(n - half);
}

// x = mantissa 2^exponent, with a size in [1/2, 1); 0 and what is not finite as they are, with the exponent 0.
template <class T> struct Frexp {
  T mantissa;
  int32_t exponent;
};
template <std::floating_point T>
[[gnu::always_inline]] inline Frexp<T> frexp(T x) {
  constexpr int digits = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 2;
  constexpr Bits<T> infinite = std::bit_cast<Bits<T>>(infinity<T>), half = std::bit_cast<Bits<T>>(T(.5));
  const bool tiny = abs(x) < std::numeric_limits<T>::min();
  const Bits<T> bits = to_bits(tiny ? x * T(0x1p54) : x), power = bits & infinite;
  const int32_t exponent = static_cast<int32_t>(static_cast<std::make_unsigned_t<Bits<T>>>(power) >> digits) - bias - (tiny ? 54 : 0);
  const bool plain = (x != 0) & (power != infinite);
  return {plain ? from_bits((bits & ~infinite) | half) : x, plain ? exponent : 0};
}

// The nearest integer, ties to even, for |x| < 2^22 (float) or 2^51 (double).
template <std::floating_point T>
inline constexpr T round_magic = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);

}  // namespace adjoint::math
