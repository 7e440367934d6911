// Where the CPU's random words come from: core's own loop on one thread, or faster ones that a kernel package puts here.
#pragma once
#include <adjoint/core/export.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/math/trig.h>

namespace adjoint {

// [0, 1) in multiples of 2^-24.
[[gnu::always_inline]] inline float uniform_float(uint32_t bits) { return static_cast<float>(static_cast<int32_t>(bits >> 8)) * 0x1p-24f; }
// (0, 1] in multiples of 2^-32; in two parts, as few processors convert unsigned words. The sum is rounded once.
[[gnu::always_inline]] inline float upper_uniform_float(uint32_t bits) {
  const auto high = static_cast<float>(static_cast<int32_t>(bits >> 16)), low = static_cast<float>(static_cast<int32_t>(bits & 0xffff));
  return ((high * 65536.f + low) + 1) * 0x1p-32f;
}

// Box and Muller: the cosine and sine parts of a radius and a turn. The same bits on every instruction set, where no products and sums
// are fused.
template <class T> struct NormalPair { T first, second; };
template <class T> [[gnu::always_inline]] inline NormalPair<T> normal_pair(T radius_uniform, T turn) {
  const T r = std::sqrt(T(-2) * math::log(radius_uniform)), angle = T(6.283185307179586) * turn;
  return {r * math::detail::sin_shifted(angle, 1), r * math::detail::sin_shifted(angle, 0)};   // from one reduction
}

// The words of MT19937 that a state of it stands for.
inline constexpr int twister_size = 624;
[[gnu::always_inline]] inline void twister_words(const uint32_t* state, uint32_t* words) {
  for (int i = 0; i < twister_size; i++) {
    uint32_t y = state[i];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    words[i] = y ^ y >> 18;
  }
}
[[gnu::always_inline]] inline uint32_t twister_mixed(uint32_t upper, uint32_t lower) {
  return ((upper & 0x80000000u) | (lower & 0x7fffffffu)) >> 1 ^ ((0 - (lower & 1)) & 0x9908b0dfu);
}
// The next state, and its words.
[[gnu::always_inline]] inline void twist_words(uint32_t* state, uint32_t* words) {
  constexpr int behind = 397, rest = twister_size - behind;
  for (int i = 0; i < rest; i++) state[i] = state[i + behind] ^ twister_mixed(state[i], state[i + 1]);
  for (int i = rest; i < twister_size - 1; i++) state[i] = state[i - rest] ^ twister_mixed(state[i], state[i + 1]);
  state[twister_size - 1] = state[behind - 1] ^ twister_mixed(state[twister_size - 1], state[0]);
  twister_words(state, words);
}

struct RandomWords {
  // to[4 b + k] = word k of block first + b (src/ops/random.cpp says of what), for b below `blocks`.
  void (*fill)(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset);
  void (*twist)(uint32_t* state, uint32_t* words);   // twist_words
  void (*uniform)(float* to, const uint32_t* bits, int64_t n);   // uniform_float of each
  // The normal pairs of bits[2 k] and bits[2 k + 1] to to[2 k] and to[2 k + 1], for even n.
  void (*normal)(float* to, const uint32_t* bits, int64_t n);
  // Those of 1 - x[16 k + j] and x[16 k + j + 8] in their place, for j < 8 and n that 16 divides.
  void (*normal_sixteens)(float* x, int64_t n);
};
ADJOINT_API extern RandomWords random_words;

}  // namespace adjoint
