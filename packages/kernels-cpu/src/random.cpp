// Philox 4x32-10, blocks side by side, and Box and Muller's transform.
#include "random.h"

#include <adjoint/core/op_attrs.h>
#include <adjoint/core/random_words.h>

#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "pool.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace adjoint::cpu {

namespace {

struct Philox {
  static constexpr int lanes = 64;
  template <int W> [[gnu::always_inline]] static inline void run(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset) {
    for (int64_t b = 0; b < blocks; b += lanes) {
      alignas(64) uint32_t c[4][lanes], out[lanes][4];
      for (int j = 0; j < lanes; j++) {
        const uint64_t block = first + static_cast<uint64_t>(b + j);
        c[0][j] = static_cast<uint32_t>(block);
        c[1][j] = static_cast<uint32_t>(block >> 32);
        c[2][j] = static_cast<uint32_t>(offset);
        c[3][j] = static_cast<uint32_t>(offset >> 32);
      }
      uint32_t low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
      for (int round = 0; round < 10; round++, low += 0x9E3779B9u, high += 0xBB67AE85u)
        for (int j = 0; j < lanes; j++) {
          const uint64_t p = uint64_t(0xD2511F53u) * c[0][j], q = uint64_t(0xCD9E8D57u) * c[2][j];
          c[0][j] = static_cast<uint32_t>(q >> 32) ^ c[1][j] ^ low;
          c[1][j] = static_cast<uint32_t>(q);
          c[2][j] = static_cast<uint32_t>(p >> 32) ^ c[3][j] ^ high;
          c[3][j] = static_cast<uint32_t>(p);
        }
      for (int j = 0; j < lanes; j++)
        for (int k = 0; k < 4; k++) out[j][k] = c[k][j];
      const int64_t count = blocks - b < lanes ? blocks - b : lanes;
      __builtin_memcpy(to + 4 * b, out, static_cast<size_t>(count) * 16);
    }
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("arch=x86-64-v3"), gnu::always_inline]] inline __m256i every(uint64_t word) { return _mm256_set1_epi64x(static_cast<long long>(word)); }

// Eight blocks at a time, in halves; how many are done. A word has a lane of 64 bits, whose upper half is anything: the product of lower
// halves, the one such that AVX2 has, does not look at it, and no word changes its lane until all are written.
[[gnu::target("arch=x86-64-v3")]] int64_t philox_eights(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset) {
  int64_t b = 0;
  for (; b + 8 <= blocks; b += 8) {
    __m256i c[2][4];
    for (int h = 0; h < 2; h++) {
      const __m256i block = _mm256_add_epi64(every(first + static_cast<uint64_t>(b + 4 * h)), _mm256_set_epi64x(3, 2, 1, 0));
      c[h][0] = block, c[h][1] = _mm256_srli_epi64(block, 32), c[h][2] = every(offset), c[h][3] = every(offset >> 32);
    }
    uint32_t low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; round++, low += 0x9E3779B9u, high += 0xBB67AE85u)
      for (int h = 0; h < 2; h++) {
        const __m256i p = _mm256_mul_epu32(c[h][0], every(0xD2511F53u)), q = _mm256_mul_epu32(c[h][2], every(0xCD9E8D57u));
        c[h][0] = _mm256_xor_si256(_mm256_srli_epi64(q, 32), _mm256_xor_si256(c[h][1], every(low)));
        c[h][2] = _mm256_xor_si256(_mm256_srli_epi64(p, 32), _mm256_xor_si256(c[h][3], every(high)));
        c[h][1] = q, c[h][3] = p;
      }
    for (int h = 0; h < 2; h++) {
      const __m256i left = _mm256_blend_epi32(c[h][0], _mm256_slli_epi64(c[h][1], 32), 0xaa), right = _mm256_blend_epi32(c[h][2], _mm256_slli_epi64(c[h][3], 32), 0xaa);
      const __m256i even = _mm256_unpacklo_epi64(left, right), odd = _mm256_unpackhi_epi64(left, right);
      auto* const at = reinterpret_cast<__m256i*>(to + 4 * (b + 4 * h));
      _mm256_storeu_si256(at, _mm256_permute2x128_si256(even, odd, 0x20));
      _mm256_storeu_si256(at + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
  }
  return b;
}
#endif

struct Uniforms {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(float* to, const uint32_t* bits, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) to[i] = uniform_float(bits[i]);
  }
};

struct NormalPairs {
  template <int W> [[gnu::always_inline]] static inline void run(float* to, const uint32_t* bits, int64_t n) {
    constexpr int64_t pairs = 64;
    for (int64_t i = 0; i < n; i += 2 * pairs) {
      const int64_t m = n - i < 2 * pairs ? n - i : 2 * pairs;
      alignas(64) uint32_t word[2][pairs] = {};
      alignas(64) float first[pairs], second[pairs];
      for (int64_t k = 0; k < m / 2; k++) word[0][k] = bits[i + 2 * k], word[1][k] = bits[i + 2 * k + 1];
      for (int64_t k = 0; k < pairs; k++) {
        const auto pair = normal_pair(upper_uniform_float(word[0][k]), uniform_float(word[1][k]));
        first[k] = pair.first, second[k] = pair.second;
      }
      for (int64_t k = 0; k < m / 2; k++) to[i + 2 * k] = first[k], to[i + 2 * k + 1] = second[k];
    }
  }
};

struct NormalSixteens {
  template <int W> [[gnu::always_inline]] static inline void run(float* x, int64_t n) {
    constexpr int64_t most = 512;
    for (int64_t i = 0; i < n; i += most) {
      const int64_t m = n - i < most ? n - i : most;
      alignas(64) float first[most / 2], second[most / 2];
      for (int64_t k = 0; k < m; k += 16)
        for (int64_t j = 0; j < 8; j++) first[k / 2 + j] = x[i + k + j], second[k / 2 + j] = x[i + k + 8 + j];
      for (int64_t k = 0; k < m / 2; k++) {
        const auto pair = normal_pair(1 - first[k], second[k]);
        first[k] = pair.first, second[k] = pair.second;
      }
      for (int64_t k = 0; k < m; k += 16)
        for (int64_t j = 0; j < 8; j++) x[i + k + j] = first[k / 2 + j], x[i + k + 8 + j] = second[k / 2 + j];
    }
  }
};

struct Twist {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(uint32_t* state, uint32_t* words) { twist_words(state, words); }
};

// What dropout keeps of x, scaled.
template <class T> struct MaskedScale {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const uint8_t* mask, T* y, T scale, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * (scale * static_cast<T>(static_cast<int>(mask[i])));   // without a branch
  }
};
template <class T> void scale_masked(const Launch& l) {
  const auto scale = static_cast<T>(l.attrs.as<KeptScale>().scale);
  pool::parallel_for(l.y[0].numel, 1 << 15, [&](int64_t begin, int64_t end) {
    isa::call<MaskedScale<T>, const T*, const uint8_t*, T*, T, int64_t>(l.x[0].as<const T>() + begin, l.x[1].as<const uint8_t>() + begin, l.y[0].as<T>() + begin, scale, end - begin);
  });
}
void masked_scale_kernel(const Launch& l) {
  if (!l.x[0].contiguous() || !l.x[1].contiguous() || !l.y[0].contiguous()) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32: return scale_masked<float>(l);
    case DType::float64: return scale_masked<double>(l);
    default: return reference(l);
  }
}

constexpr Entry random_entries[] = {{"masked_scale", masked_scale_kernel}};

}  // namespace

Entries random_kernels() { return random_entries; }

void random_twist(uint32_t* state, uint32_t* words) { isa::call<Twist>(state, words); }

void random_uniforms(float* to, const uint32_t* bits, int64_t n) { isa::call<Uniforms>(to, bits, n); }

void random_normals(float* to, const uint32_t* bits, int64_t n) { isa::call<NormalPairs>(to, bits, n); }

void random_normal_sixteens(float* x, int64_t n) { isa::call<NormalSixteens>(x, n); }

void random_blocks(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset) {
  int64_t done = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if (isa::level == isa::avx2) done = philox_eights(to, blocks, first, seed, offset);   // AVX-512 turns lanes in one step
#endif
  isa::call<Philox>(to + 4 * done, blocks - done, first + static_cast<uint64_t>(done), seed, offset);
}

}  // namespace adjoint::cpu
