// sin, cos, tan: x = n pi/2 + r with pi/2 in three parts, then a polynomial.
//
// sin_moderate and its like are free of branches and right for |x| < trig_limit: a vectorised loop
// runs them, ORs is_large(x) over a tile, and calls the full function for a tile that had one.
#pragma once

#include <adjoint/core/math/bits.h>

#include <cmath>

namespace adjoint::math {

template <std::floating_point T>
inline constexpr T trig_limit = sizeof(T) == 4 ? T(0x1p27) : T(0x1p19);

// Whether the moderate functions do not hold; infinity and NaN are fine with them.
template <std::floating_point T>
[[gnu::always_inline]] inline bool is_large(T x) {
  const T a = abs(x);
  return (a >= trig_limit<T>) & (a < infinity<T>);
}

namespace detail {

struct SinCos {
  double sin, cos;
  int64_t n;  // the quadrant, in the low bits
};

// Of x + offset, where x is a float: 25 + 25 + 53 bits of pi/2; polynomials to 2^-32.
[[gnu::always_inline]] inline SinCos sincos_offset(double x, double offset) {
  const double shifted = (x + offset) * 0.6366197723675814 + round_magic<double>;
  const double n = shifted - round_magic<double>;
  const double r = (((x - n * 0x1.921fb50000000p+0) - n * 0x1.110b460000000p-26) - n * 0x1.1a62633145c07p-54) + offset;
  const double z = r * r;
  const double s = poly(z, -0x1.5555554ca96cap-3, 0x1.1111088a1c903p-7, -0x1.a00f93b58d1f7p-13, 0x1.6cd5f281b5f36p-19);
  const double c = poly(z, 0x1.5555554f43fa3p-5, -0x1.6c16b88d563c5p-10, 0x1.a01118657a985p-16, -0x1.242932739cad1p-22);
  return {r + r * z * s, (1 - .5 * z) + z * z * c, to_bits(shifted)};
}
[[gnu::always_inline]] inline SinCos sincos_quadrant(float x) { return sincos_offset(x, -0.); }  // which adds nothing

// 33 + 33 + 53 bits; r has a low part, as near multiples of pi/2 most of x cancels.
[[gnu::always_inline]] inline SinCos sincos_quadrant(double x) {
  const double shifted = x * 0.6366197723675814 + round_magic<double>;
  const double n = shifted - round_magic<double>;
  const double a = x - n * 0x1.921fb54400000p+0, w = n * 0x1.0b4611a600000p-34, b = a - w;
  const double w2 = n * 0x1.3198a2e037073p-69, r = b - w2;
  const double low = ((a - b) - w) + ((b - r) - w2);
  const double z = r * r, h = .5 * z, g = 1 - h;
  const double s = poly(z, -0x1.5555555555549p-3, 0x1.111111110f842p-7, -0x1.a01a019c0a2d0p-13,
                        0x1.71de3570fe66dp-19, -0x1.ae5e60c467102p-26, 0x1.5d915de92367bp-33);
  const double c = poly(z, 0x1.555555555554cp-5, -0x1.6c16c16c15141p-10, 0x1.a01a019cab7d6p-16,
                        -0x1.27e4f80538df9p-22, 0x1.1ee9e8936f55dp-29, -0x1.8facd2716be3cp-37);
  return {r + (r * z * s + low), g + (((1 - g) - h) + (z * z * c - r * low)), to_bits(shifted)};
}

// cos(x) = sin(x + pi/2): a shift of the quadrant by one.
template <std::floating_point T>
[[gnu::always_inline]] inline T sin_shifted(T x, int shift) {
  const auto [s, c, quadrant] = sincos_quadrant(x);
  const int64_t n = quadrant + shift;
  const double value = n & 1 ? c : s;
  return static_cast<T>(n & 2 ? -value : value);
}

// sin(x + shift pi) of a float: x + shift pi = m pi + r, with pi in 25 + 25 + 53 bits; one polynomial for |r| <= pi/2, to 2^-35 (minimax).
[[gnu::always_inline]] inline float sin_half_turns(float x, double shift) {
  const double shifted = (x * 0.3183098861837907 + shift) + round_magic<double>;
  const double m = (shifted - round_magic<double>) - shift;
  const double r = ((x - m * 0x1.921fb50000000p+1) - m * 0x1.110b460000000p-25) - m * 0x1.1a62633145c07p-53;
  const double z = r * r;
  const double s = poly(z, -0x1.5555554769607p-3, 0x1.11110c49ff573p-7, -0x1.a017d99fb7203p-13, 0x1.71708011df798p-19, -0x1.9a688611e288ep-26);
  const double y = r * (1 + z * s);   // keeps -0
  return static_cast<float>(from_bits(to_bits(y) ^ to_bits(shifted) << 63));
}

}  // namespace detail

[[gnu::always_inline]] inline float sin_moderate(float x) { return detail::sin_half_turns(x, -0.); }   // which adds nothing
[[gnu::always_inline]] inline float cos_moderate(float x) { return detail::sin_half_turns(x, .5); }
template <std::floating_point T>
[[gnu::always_inline]] inline T sin_moderate(T x) {
  const T y = detail::sin_shifted(x, 0);
  return x == 0 ? x : y;  // keeps -0
}
template <std::floating_point T>
[[gnu::always_inline]] inline T cos_moderate(T x) {
  return detail::sin_shifted(x, 1);
}
template <std::floating_point T>
[[gnu::always_inline]] inline T tan_moderate(T x) {
  const auto [s, c, n] = detail::sincos_quadrant(x);
  const T y = static_cast<T>((n & 1 ? -c : s) / (n & 1 ? s : c));
  return x == 0 ? x : y;
}

template <std::floating_point T>
inline T sin(T x) {
  return is_large(x) ? std::sin(x) : sin_moderate(x);
}
template <std::floating_point T>
inline T cos(T x) {
  return is_large(x) ? std::cos(x) : cos_moderate(x);
}
template <std::floating_point T>
inline T tan(T x) {
  return is_large(x) ? std::tan(x) : tan_moderate(x);
}

}  // namespace adjoint::math
