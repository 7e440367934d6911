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
  return {r * math::cos_moderate(angle), r * math::sin_moderate(angle)};
}

struct RandomWords {
  // to[4 b + k] = word k of block first + b (src/ops/random.cpp says of what), for b below `blocks`.
  void (*fill)(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset);
  void (*uniform)(float* to, const uint32_t* bits, int64_t n);   // uniform_float of each
  // to[2 k], to[2 k + 1] = the normal pair of bits[2 k] and bits[2 k + 1], for even n.
  void (*normal)(float* to, const uint32_t* bits, int64_t n);
};
ADJOINT_API extern RandomWords random_words;

}  // namespace adjoint
