// log, log2, log10, log1p: x = m 2^e with m in [sqrt(1/2), sqrt(2)), a polynomial for log m.
#pragma once

#include <adjoint/core/math/bits.h>

namespace adjoint::math {

namespace detail {

template <class T>
struct Mantissa {
  T m, e;  // x = m 2^e
};
// For normal positive x; of others some number, by integers that wrap.
[[gnu::always_inline]] inline Mantissa<float> split(float x) {
  const auto bits = static_cast<uint32_t>(to_bits(x));
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3) >> 23;
  return {from_bits(static_cast<int32_t>(bits - (static_cast<uint32_t>(e) << 23))), static_cast<float>(e)};
}
[[gnu::always_inline]] inline Mantissa<double> split(double x) {
  const auto bits = static_cast<uint64_t>(to_bits(x)), k = (bits - 0x3fe6a09e667f3bcd) & 0xfff0000000000000;
  // The exponent becomes a double inside the mantissa of 2^52: below AVX-512 lanes have no such conversion.
  const auto biased = (k + 0x4000000000000000) >> 52;
  return {from_bits(static_cast<int64_t>(bits - k)), from_bits(static_cast<int64_t>(biased) + 0x4330000000000000) - (0x1p52 + 1024)};
}
// For all positive x: subnormals are raised first.
template <std::floating_point T>
[[gnu::always_inline]] inline Mantissa<T> split_any(T x) {
  const bool tiny = x < std::numeric_limits<T>::min();
  const auto [m, e] = split(tiny ? x * T(0x1p54) : x);
  return {m, tiny ? e - 54 : e};
}
// What every logarithm does with 0, negative numbers, infinity and NaN.
template <std::floating_point T>
[[gnu::always_inline]] inline T log_special(T x, T result) {
  result = x < infinity<T> ? result : x;
  result = x == 0 ? -infinity<T> : result;
  return x < 0 ? nan<T> : result;
}

// (log(1 + f) - f + f^2 / 2) / f^3 to 2^-27.
[[gnu::always_inline]] inline float log_tail(float f) {
  return poly(f, 3.333333165e-01f, -2.500082117e-01f, 2.000122931e-01f, -1.662335426e-01f, 1.420171969e-01f,
              -1.316017938e-01f, 1.276179314e-01f, -7.634745274e-02f);
}
// (2 atanh(s) - 2 s) / s^3 in z = s^2, to 2^-57; log(1 + f) = 2 atanh(f / (2 + f)).
[[gnu::always_inline]] inline double atanh_tail(double z) {
  return poly(z, 0x1.5555555555593p-1, 0x1.999999997fb56p-2, 0x1.2492494215defp-2, 0x1.c71c51e93b736p-3,
              0x1.746645f12916dp-3, 0x1.39a0fa64869f4p-3, 0x1.2f0d5d843d441p-3);
}
[[gnu::always_inline]] inline double atanh_tail_short(double z) {
  return poly(z, 0x1.555554fd48940p-1, 0x1.999a7b326fc4dp-2, 0x1.2438aa414eaa8p-2, 0x1.e2fd996aedbcfp-3);
}
// log(1 + f) in double arithmetic for a float result.
[[gnu::always_inline]] inline double log1p_small_short(double f) {
  const double s = f / (2 + f), z = s * s;
  return 2 * s + s * z * atanh_tail_short(z);
}
[[gnu::always_inline]] inline double log_short(Mantissa<double> x) {
  return log1p_small_short(x.m - 1) + x.e * 0.6931471805599453;
}

// log(1 + f) + e log 2 + c for a small correction c; log 2 has two parts.
[[gnu::always_inline]] inline float log_sum(float f, float e, float c) {
  const float s = f * f;
  return (f + (e * -2.12194440e-4f + (f * s * log_tail(f) - .5f * s) + c)) + e * 0.693359375f;
}
[[gnu::always_inline]] inline double log_sum(double f, double e, double c) {
  const double s = f / (2 + f), z = s * s, h = .5 * f * f;
  const double tail = s * (h + z * atanh_tail(z)) + (e * 0x1.a39ef35793c76p-33 + c);
  return e * 0x1.62e42fee00000p-1 - ((h - tail) - f);
}

// log x of a normal positive x.
[[gnu::always_inline]] inline double log_positive(double x) {
  const auto [m, e] = split(x);
  return log_sum(m - 1, e, 0);
}

// log(m) as high + low, high with half the bits, so that its product with a short constant is exact.
struct Pair {
  double high, low;
};
[[gnu::always_inline]] inline Pair log_pair(double m) {
  const double f = m - 1, s = f / (2 + f), z = s * s, h = .5 * f * f;
  const double high = from_bits(to_bits(f - h) & static_cast<int64_t>(0xffffffff00000000));
  return {high, ((f - high) - h) + s * (h + z * atanh_tail(z))};
}

}  // namespace detail

[[gnu::always_inline]] inline float log(float x) {
  const auto [m, e] = detail::split_any(x);
  return detail::log_special(x, detail::log_sum(m - 1, e, 0));
}
[[gnu::always_inline]] inline double log(double x) {
  const auto [m, e] = detail::split_any(x);
  return detail::log_special(x, detail::log_sum(m - 1, e, 0));
}

// A float is always normal as a double.
[[gnu::always_inline]] inline float log2(float x) {
  const auto [m, e] = detail::split(static_cast<double>(x));
  return detail::log_special(x, static_cast<float>(e + detail::log1p_small_short(m - 1) * 1.4426950408889634));
}
// log2(e) = 1.44269504072144627571 + 1.67517131648865118353e-10, the first short; exact for powers of two.
[[gnu::always_inline]] inline double log2(double x) {
  const auto [m, e] = detail::split_any(x);
  const auto [high, low] = detail::log_pair(m);
  const double product = high * 0x1.7154765200000p+0;
  const double rest = (low + high) * 0x1.705fc2eefa200p-33 + low * 0x1.7154765200000p+0;
  const double sum = e + product;  // |e| >= 1 > |product|, or e is 0
  return detail::log_special(x, sum + (((e - sum) + product) + rest));
}

[[gnu::always_inline]] inline float log10(float x) {
  const auto [m, e] = detail::split(static_cast<double>(x));
  const double r = e * 0.30102999566398120 + detail::log1p_small_short(m - 1) * 0.43429448190325183;
  return detail::log_special(x, static_cast<float>(r));
}
// log10(e) and log10(2) in two parts each: products with the first parts are exact.
[[gnu::always_inline]] inline double log10(double x) {
  const auto [m, e] = detail::split_any(x);
  const auto [high, low] = detail::log_pair(m);
  const double product = high * 0x1.bcb7b15200000p-2, large = e * 0x1.34413509f7800p-2;
  const double rest = e * 0x1.fef311f12b358p-46 + ((low + high) * 0x1.b9438ca9aadd5p-36 + low * 0x1.bcb7b15200000p-2);
  const double sum = large + product;
  return detail::log_special(x, sum + (((large - sum) + product) + rest));
}

template <std::floating_point T>
[[gnu::always_inline]] inline T log1p(T x) {
  const T u = 1 + x;
  const auto [m, e] = detail::split(u);
  // What the sum rounded away, relative to it; where x itself is f nothing was.
  const T c = e == 0 ? 0 : (x - (u - 1)) / u;
  T r = detail::log_sum(e == 0 ? x : m - 1, e, c);
  r = x < infinity<T> ? r : x;
  r = x == -1 ? -infinity<T> : r;
  r = x == 0 ? x : r;  // keeps -0
  return x < -1 ? nan<T> : r;
}

}  // namespace adjoint::math
