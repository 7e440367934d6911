// exp, exp2, expm1: x = n ln 2 + r, a polynomial in r, and 2^n applied in two exact steps.
//
// Coefficients here and beside are own minimax fits; every function is free of branches, tables and calls.
#pragma once

#include <adjoint/core/math/bits.h>

namespace adjoint::math {

namespace detail {

// e^r - 1 for |r| <= ln(2) / 2; errors 2^-27 and 2^-57.
[[gnu::always_inline]] inline float expm1_small(float r) {
  return r + (r * r) * poly(r, 4.999999344e-01f, 1.666652062e-01f, 4.166838926e-02f, 8.368717895e-03f,
                            1.381454765e-03f);
}
[[gnu::always_inline]] inline double expm1_small(double r) {
  return r + (r * r) * poly_by_two(r, 0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.5555555550892p-5,
                            0x1.1111111127ee2p-7, 0x1.6c16c18427866p-10, 0x1.a01a0129861b6p-13,
                            0x1.a0199a0ff21d3p-16, 0x1.71df26cd44508p-19, 0x1.28ad716e39f1ap-22,
                            0x1.ad7d875016741p-26);
}
// The same to 2^-35: double arithmetic for a float result.
[[gnu::always_inline]] inline double expm1_small_short(double r) {
  return r + (r * r) * poly(r, 0x1.0000003a255dcp-1, 0x1.55555443611dcp-3, 0x1.55548dc197f66p-5,
                            0x1.11127043920b2p-7, 0x1.6d8d0999b0ab0p-10, 0x1.9f095b29d3264p-13);
}

// x = n ln 2 + r, |r| <= ln(2) / 2. ln 2 has two parts; n times the first is exact.
template <class T>
struct Reduced {
  T r;
  Bits<T> n;
};
[[gnu::always_inline]] inline Reduced<float> reduce_ln2(float x) {
  const float shifted = x * 1.44269504f + round_magic<float>;
  const float n = shifted - round_magic<float>;
  const float r = x - n * 0.693359375f;
  return {r - n * -2.12194440e-4f, to_bits(shifted) - to_bits(round_magic<float>)};
}
[[gnu::always_inline]] inline Reduced<double> reduce_ln2(double x) {
  const double shifted = x * 1.4426950408889634 + round_magic<double>;
  const double n = shifted - round_magic<double>;
  const double r = x - n * 0x1.62e42feep-1;
  return {r - n * 0x1.a39ef35793c76p-33, to_bits(shifted) - to_bits(round_magic<double>)};
}

// Beyond these exp is 0 or infinity.
template <class T>
inline constexpr T exp_lowest = sizeof(T) == 4 ? T(-104) : T(-746);
template <class T>
inline constexpr T exp_highest = sizeof(T) == 4 ? T(89) : T(710);

// e^x 2^shift without overflow on the way. A result that vanishes is chosen, not computed: many processors take a hundred times as long for a
// product that underflows.
template <std::floating_point T>
[[gnu::always_inline]] inline T exp_scaled(T x, int shift) {
  const bool vanishes = x < exp_lowest<T>;
  const auto [r, n] = reduce_ln2(vanishes ? T(0) : x > exp_highest<T> + 1 ? exp_highest<T> + 1 : x);
  return vanishes ? T(0) : scale(1 + expm1_small(r), n + shift);
}
// e^x in double arithmetic for a float result.
[[gnu::always_inline]] inline double exp_short(double x) {
  const auto [r, n] = reduce_ln2(clamp(x, -200.0, 200.0));
  return (1 + expm1_small_short(r)) * power_of_two<double>(n);
}

}  // namespace detail

template <std::floating_point T>
[[gnu::always_inline]] inline T exp(T x) {
  return detail::exp_scaled(x, 0);
}
// e^x for x <= 88 (709), 0 instead of results below the least normal number: for what is added to 1, or weighs beside a weight of 1.
template <std::floating_point T>
[[gnu::always_inline]] inline T exp_normal(T x) {
  constexpr T lowest = sizeof(T) == 4 ? T(-87.3365) : T(-708.396);
  const auto [r, n] = detail::reduce_ln2(clamp(x, lowest, detail::exp_highest<T>));
  const T y = (1 + detail::expm1_small(r)) * power_of_two<T>(n);
  return x < lowest ? T(0) : y;
}

template <std::floating_point T>
[[gnu::always_inline]] inline T exp2(T x) {
  x = sizeof(T) == 4 ? clamp(x, T(-151), T(129)) : clamp(x, T(-1076), T(1025));
  const T shifted = x + round_magic<T>;
  const T r = (x - (shifted - round_magic<T>)) * T(0.69314718055994531);
  return scale(1 + detail::expm1_small(r), to_bits(shifted) - to_bits(round_magic<T>));
}

// 2^n (e^r - 1) + (2^n - 1).
template <std::floating_point T>
[[gnu::always_inline]] inline T expm1(T x) {
  constexpr bool single = sizeof(T) == 4;
  const T y = clamp(x, single ? T(-20) : T(-50), detail::exp_highest<T>);
  const auto [r, n] = detail::reduce_ln2(y);
  const T p = detail::expm1_small(r);
  const T power = scale(T(1), n);
  const T result = n > (single ? 24 : 53) ? scale(1 + p, n) : power * p + (power - 1);
  return x == 0 ? x : result;  // keeps -0
}

}  // namespace adjoint::math
