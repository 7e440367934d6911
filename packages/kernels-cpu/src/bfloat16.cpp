// AVX512_BF16: a tile of 12 x 32 sums in registers, two steps of k at a time.
#include "bfloat16.h"

#include <algorithm>
#include <cstring>

#include "compilers.h"
#include "isa.h"
#include "lines.h"
#include "pool.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace adjoint::cpu {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

constexpr int64_t tall = 12, wide = 32;  // of a tile
constexpr int64_t panel_rows = 8 * tall;

// Columns [first, first + 32) of b (k, n) in pairs of rows; what is outside counts as 0.
void pack(uint32_t* to, const uint16_t* b, int64_t k, int64_t n, int64_t first) {
  const int64_t width = std::min(wide, n - first);
  for (int64_t q = 0; q < k; q += 2, to += wide) {
    const uint16_t *even = b + q * n + first, *odd = even + n;
    for (int64_t j = 0; j < width; j++) to[j] = even[j] | (q + 1 < k ? static_cast<uint32_t>(odd[j]) << 16 : 0);
    std::fill(to + width, to + wide, 0u);
  }
}

// c (12, 32) = 12 rows of a, each of `pairs` pairs, by a packed panel.
[[gnu::target("arch=x86-64-v4,avx512bf16")]] void multiply_tile(const uint32_t* a, int64_t pairs, const uint32_t* panel, float* c) {
  __m512 sum[tall][2];
#pragma GCC unroll 12
  for (int r = 0; r < tall; r++) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
  for (int64_t q = 0; q < pairs; q++) {
    const __m512i left = _mm512_loadu_si512(panel + q * wide), right = _mm512_loadu_si512(panel + q * wide + 16);
#pragma GCC unroll 12
    for (int r = 0; r < tall; r++) {
      const __m512i factor = _mm512_set1_epi32(static_cast<int>(a[r * pairs + q]));
      // Assembly, since Clang 16 crashes on the intrinsic with a broadcast.
      asm("vdpbf16ps %2, %1, %0" : "+v"(sum[r][0]) : "v"(factor), "v"(left));
      asm("vdpbf16ps %2, %1, %0" : "+v"(sum[r][1]) : "v"(factor), "v"(right));
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < tall; r++) {
    _mm512_storeu_ps(c + r * wide, sum[r][0]);
    _mm512_storeu_ps(c + r * wide + 16, sum[r][1]);
  }
}

struct Round {
  template <int W> [[gnu::always_inline]] static inline void run(BFloat16* y, const float* x, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = BFloat16(x[i]);
  }
};

void put(BFloat16* y, const float* x, int64_t n) { isa::call<Round>(y, x, n); }
void put(float* y, const float* x, int64_t n) { std::copy_n(x, n, y); }

// a: m rows of an even number of elements. Y: bfloat16, or float, which is not rounded.
template <class Y> void multiply(const uint16_t* a, const uint16_t* b, Y* y, int64_t m, int64_t n, int64_t k) {
  const int64_t pairs = (k + 1) / 2, panels = (n + wide - 1) / wide, row_panels = (m + panel_rows - 1) / panel_rows;
  const Buffer memory(panels * pairs * wide * 4);
  uint32_t* packed = memory.as<uint32_t>();
  pool::parallel(panels, [&](int64_t p) { pack(packed + p * pairs * wide, b, k, n, p * wide); });
  pool::parallel(panels * row_panels, [&](int64_t unit) {
    const int64_t first = unit / row_panels * wide, begin = unit % row_panels * panel_rows, end = std::min(m, begin + panel_rows);
    alignas(64) float c[tall * wide];
    for (int64_t i = begin; i < end; i += tall) {
      const int64_t top = std::min(i, m - tall);  // the last tile repeats some rows
      multiply_tile(reinterpret_cast<const uint32_t*>(a) + top * pairs, pairs, packed + unit / row_panels * pairs * wide, c);
      for (int64_t r = i - top; r < std::min(tall, end - top); r++) put(y + (top + r) * n + first, c + r * wide, std::min(wide, n - first));
    }
  });
}

}  // namespace

bool multiply_bfloat16(const View& a, const View& b, const View& y) {
  const int64_t m = y.sizes[y.ndim - 2], n = y.sizes[y.ndim - 1], k = a.sizes[a.ndim - 1], batches = y.numel / (m * n);
  const bool one = b.ndim == 2;
  if (isa::level < isa::avx512_bf16 || m < tall || n < wide || k < 16 || a.numel != batches * m * k || b.numel != (one ? 1 : batches) * k * n) return false;
  const Contiguous left(a), right(b);
  const Buffer padded(k % 2 ? m * (k + 1) * 2 : 1);
  for (int64_t i = 0; i < batches; i++) {
    const uint16_t* rows = left.as<const uint16_t>() + i * m * k;
    if (k % 2) {
      uint16_t* to = padded.as<uint16_t>();
      for (int64_t r = 0; r < m; r++) {
        std::memcpy(to + r * (k + 1), rows + r * k, static_cast<size_t>(k) * 2);
        to[r * (k + 1) + k] = 0;
      }
      rows = to;
    }
    const uint16_t* columns = right.as<const uint16_t>() + (one ? 0 : i * k * n);
    if (y.dtype == DType::float32) multiply(rows, columns, y.as<float>() + i * m * n, m, n, k);
    else multiply(rows, columns, y.as<BFloat16>() + i * m * n, m, n, k);
  }
  return true;
}

#else

bool multiply_bfloat16(const View&, const View&, const View&) { return false; }

#endif

}  // namespace adjoint::cpu
