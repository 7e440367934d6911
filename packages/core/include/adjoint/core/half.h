// Half and BFloat16: 16-bit storage types; arithmetic happens in float.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace adjoint {

namespace detail {

// All three results are computed and one is selected: a loop over this vectorises.
[[gnu::always_inline]] constexpr uint16_t float_to_half(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  // Below 2^-14 the sum with 1/2 rounds the value to a multiple of 2^-24, the spacing of subnormals.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(a) + 0.5f) - 0x3f000000u;
  // Nearest, ties to even; a carry out of the mantissa raises the exponent, up to infinity.
  const uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  const uint32_t special = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
  uint32_t h = a < 0x38800000u ? small : normal;
  h = a >= 0x47800000u ? special : h;
  return static_cast<uint16_t>(h | sign);
}

[[gnu::always_inline]] constexpr float half_to_float(uint16_t h) {
  const uint32_t u = h, a = (u & 0x7fffu) << 13;
  // As the bits of a float the value is 2^-112 times too small; the product also normalises subnormals.
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(a) * 0x1p112f);
  const uint32_t magnitude = a >= 0x0f800000u ? a | 0x7f800000u : finite;
  return std::bit_cast<float>(magnitude | (u & 0x8000u) << 16);
}

// A sum where others choose: what is chosen between as 16 bits is packed first, and twice.
[[gnu::always_inline]] constexpr uint16_t float_to_bfloat16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x), number = x == x ? ~0u : 0u;
  const uint32_t quiet = u | (0x400000u & ~number);   // NaN keeps its sign; rounding could carry it to infinity
  return static_cast<uint16_t>((quiet + ((0x7fffu + ((u >> 16) & 1u)) & number)) >> 16);
}

}  // namespace detail

// IEEE 754 binary16: 5 bits of exponent, 11 of precision.
struct Half {
  uint16_t bits;

  Half() = default;
  [[gnu::always_inline]] constexpr explicit Half(float x) : bits(detail::float_to_half(x)) {}
  [[gnu::always_inline]] constexpr operator float() const { return detail::half_to_float(bits); }
  [[gnu::always_inline]] static constexpr Half from_bits(uint16_t bits) {
    return std::bit_cast<Half>(bits);
  }
};

// The upper half of a float: 8 bits of exponent, 8 of precision.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  [[gnu::always_inline]] constexpr explicit BFloat16(float x) : bits(detail::float_to_bfloat16(x)) {}
  [[gnu::always_inline]] constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  [[gnu::always_inline]] static constexpr BFloat16 from_bits(uint16_t bits) {
    return std::bit_cast<BFloat16>(bits);
  }
};

// The two 16-bit floating types.
template <class T>
inline constexpr bool is_reduced = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

static_assert(std::is_trivially_copyable_v<Half> && sizeof(Half) == 2);
static_assert(std::is_trivially_copyable_v<BFloat16> && sizeof(BFloat16) == 2);

}  // namespace adjoint

// What PyTorch's finfo says of them.
template <>
struct std::numeric_limits<adjoint::Half> : std::numeric_limits<float> {
  static constexpr int digits = 11, min_exponent = -13, max_exponent = 16;
  static constexpr adjoint::Half min() { return adjoint::Half::from_bits(0x0400); }
  static constexpr adjoint::Half max() { return adjoint::Half::from_bits(0x7bff); }
  static constexpr adjoint::Half lowest() { return adjoint::Half::from_bits(0xfbff); }
  static constexpr adjoint::Half epsilon() { return adjoint::Half::from_bits(0x1400); }
  static constexpr adjoint::Half denorm_min() { return adjoint::Half::from_bits(0x0001); }
  static constexpr adjoint::Half infinity() { return adjoint::Half::from_bits(0x7c00); }
  static constexpr adjoint::Half quiet_NaN() { return adjoint::Half::from_bits(0x7e00); }
};

template <>
struct std::numeric_limits<adjoint::BFloat16> : std::numeric_limits<float> {
  static constexpr int digits = 8;
  static constexpr adjoint::BFloat16 min() { return adjoint::BFloat16::from_bits(0x0080); }
  static constexpr adjoint::BFloat16 max() { return adjoint::BFloat16::from_bits(0x7f7f); }
  static constexpr adjoint::BFloat16 lowest() { return adjoint::BFloat16::from_bits(0xff7f); }
  static constexpr adjoint::BFloat16 epsilon() { return adjoint::BFloat16::from_bits(0x3c00); }
  static constexpr adjoint::BFloat16 denorm_min() { return adjoint::BFloat16::from_bits(0x0001); }
  static constexpr adjoint::BFloat16 infinity() { return adjoint::BFloat16::from_bits(0x7f80); }
  static constexpr adjoint::BFloat16 quiet_NaN() { return adjoint::BFloat16::from_bits(0x7fc0); }
};
