// AVX512_BF16: a tile of 12 x 32 sums in registers, two steps of k at a time.
#include "bfloat16.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "compilers.h"
#include "isa.h"
#include "lines.h"
#include "matrices.h"
#include "pool.h"
#include "small_matmul.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace adjoint::cpu {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

constexpr int64_t tall = 12, wide = 32;  // of a tile
constexpr int64_t panel_rows = 8 * tall;

typedef uint32_t Words __attribute__((vector_size(64)));
typedef uint32_t WordsInMemory __attribute__((vector_size(64), aligned(2), may_alias));   // for loads and stores alone: locals lie aligned
constexpr int64_t words = 16;

// Words of 16 rows, `down` elements apart, to 16 columns.
[[gnu::target("arch=x86-64-v4"), gnu::flatten]] void transpose(uint32_t* to, const uint16_t* from, int64_t down) {
  Words r[words];
  for (int64_t i = 0; i < words; i++) r[i] = *reinterpret_cast<const WordsInMemory*>(from + i * down);
#pragma GCC unroll 4
  for (int64_t half = words / 2; half; half /= 2) {   // exchanges the off-diagonal blocks of this size
    Words low, high;
    for (uint32_t l = 0; l < words; l++) {
      low[l] = l & half ? words + l - static_cast<uint32_t>(half) : l;
      high[l] = l & half ? words + l : l + static_cast<uint32_t>(half);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < words; i++) {
      if (i & half) continue;
      const Words x = r[i], y = r[i + half];
      r[i] = shuffle(x, y, low);
      r[i + half] = shuffle(x, y, high);
    }
  }
  for (int64_t i = 0; i < words; i++) *reinterpret_cast<WordsInMemory*>(to + i * wide) = r[i];
}

// Columns [first, first + 32) of b (k, n) in pairs of rows; what is outside counts as 0.
void pack(uint32_t* to, const Item<uint16_t>& b, int64_t first) {
  const int64_t k = b.rows, width = std::min(wide, b.columns - first);
  if (width < wide) std::fill_n(to, (k + 1) / 2 * wide, 0u);
  if (b.right != 1) {   // the transpose lies in rows: a pair is a word
    const uint16_t* from = b.data + first * b.right;
    for (int64_t j = 0; j < width; j++) {
      const bool block = j % words == 0 && j + words <= width;
      int64_t q = j % words && j / words * words + words <= width ? k / (2 * words) * (2 * words) : 0;   // from where this column is not in a block
      for (; block && q + 2 * words <= k; q += 2 * words) transpose(to + q / 2 * wide + j, from + j * b.right + q, b.right);
      for (; q + 1 < k; q += 2) std::memcpy(to + q / 2 * wide + j, from + j * b.right + q, 4);
      if (q < k) to[q / 2 * wide + j] = from[j * b.right + q];
    }
    return;
  }
  for (int64_t q = 0; q < k; q += 2, to += wide) {
    const uint16_t *even = b.data + q * b.down + first, *odd = even + b.down;
    if (q + 1 < k) for (int64_t j = 0; j < width; j++) to[j] = even[j] | static_cast<uint32_t>(odd[j]) << 16;
    else std::copy_n(even, width, to);
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

void put(const Matrix<BFloat16>& y, const float* x, int64_t n) {
  if (y.right == 1) return isa::call<Round>(y.data, x, n);
  for (int64_t j = 0; j < n; j++) *y.at(0, j) = BFloat16(x[j]);
}
void put(const Matrix<float>& y, const float* x, int64_t n) {
  for (int64_t j = 0; j < n; j++) *y.at(0, j) = x[j];
}

// a: m rows of an even number of elements, at least 12. Y: bfloat16, or float, which is not rounded.
template <class Y> void multiply(const uint16_t* a, int64_t m, const Item<uint16_t>& b, const Matrix<Y>& y) {
  const int64_t k = b.rows, n = b.columns, pairs = (k + 1) / 2, panels = (n + wide - 1) / wide, row_panels = (m + panel_rows - 1) / panel_rows;
  const Buffer memory(panels * pairs * wide * 4);
  uint32_t* packed = memory.as<uint32_t>();
  pool::parallel(panels, [&](int64_t p) { pack(packed + p * pairs * wide, b, p * wide); });
  pool::parallel(panels * row_panels, [&](int64_t unit) {
    const int64_t first = unit / row_panels * wide, begin = unit % row_panels * panel_rows, end = std::min(m, begin + panel_rows);
    alignas(64) float c[tall * wide];
    for (int64_t i = begin; i < end; i += tall) {
      const int64_t top = std::min(i, std::max(m, tall) - tall);  // the last tile repeats some rows
      multiply_tile(reinterpret_cast<const uint32_t*>(a) + top * pairs, pairs, packed + unit / row_panels * pairs * wide, c);
      for (int64_t r = i - top; r < std::min(tall, end - top); r++) put({y.at(top + r, first), y.down, y.right}, c + r * wide, std::min(wide, n - first));
    }
  });
}

// Whether a tile can read the rows as they lie.
bool suits(const Item<uint16_t>& a) { return a.right == 1 && a.down == a.columns && a.columns % 2 == 0 && a.rows >= tall; }
// The rows, with zeros for what a tile reads beyond them.
void copy_padded(const Item<uint16_t>& a, uint16_t* to, uint16_t* dense) {
  const int64_t m = a.rows, k = a.columns, even = k + k % 2;
  copy_rows(a, even == k ? to : dense);
  for (int64_t r = 0; even != k && r < m; r++) {
    std::memcpy(to + r * even, dense + r * k, static_cast<size_t>(k) * 2);
    to[r * even + k] = 0;
  }
  std::fill_n(to + m * even, (std::max(m, tall) - m) * even, uint16_t{0});
}
bool is_transposed(const View& v) { return v.strides[v.ndim - 1] != 1 && v.strides[v.ndim - 2] == 1; }

}  // namespace

bool multiply_bfloat16(const View& a, const View& b, const View& y) {
  const int64_t m = y.sizes[y.ndim - 2], n = y.sizes[y.ndim - 1], k = a.sizes[a.ndim - 1], batches = y.numel / (m * n);
  const bool one = b.ndim == 2;
  if (isa::level < isa::avx512_bf16 || m < 4 || n < 4 || k < 4 || a.numel != batches * m * k || b.numel != (one ? 1 : batches) * k * n) return false;
  // The operand on the right is read by columns or rows, the one on the left by rows alone: sides change where a copy of it costs more than
  // to write down columns.
  const bool swapped = is_transposed(a) && k > 4 * n && (is_transposed(b) || n < m);
  std::optional<Contiguous> dense, dense_left;
  if (!swapped && a.strides[a.ndim - 1] != 1) dense_left.emplace(a);
  const View &l = swapped ? b : dense_left ? dense_left->view() : a, &r = swapped ? a : b;
  if (r.strides[r.ndim - 1] != 1 && r.strides[r.ndim - 2] != 1) dense.emplace(r);
  const View& right = dense ? dense->view() : r;
  const auto side = [&](const View& v, int64_t i) {
    const Item<uint16_t> x = item<uint16_t>(v, one && &v == (swapped ? &l : &right) ? 0 : i);
    return swapped ? transposed(x) : x;
  };
  const int64_t rows = swapped ? n : m;
  pool::parallel_for(batches, std::max<int64_t>(1, (1 << 17) / (m * n * k)), [&](int64_t first, int64_t last) {
    const bool copied = !suits(side(l, 0));
    const Buffer memory(copied ? std::max(rows, tall) * (k + 1) * 2 : 1), packed(copied && k % 2 ? rows * k * 2 : 1);
    for (int64_t i = first; i < last; i++) {
      const Item<uint16_t> left = side(l, i);
      if (copied) copy_padded(left, memory.as<uint16_t>(), packed.as<uint16_t>());
      const uint16_t* from = copied ? memory.as<uint16_t>() : left.data;
      const int64_t down = swapped ? 1 : n, across = swapped ? n : 1;
      if (y.dtype == DType::float32) multiply<float>(from, rows, side(right, i), {y.as<float>() + i * m * n, down, across});
      else multiply<BFloat16>(from, rows, side(right, i), {y.as<BFloat16>() + i * m * n, down, across});
    }
  });
  return true;
}

#else

bool multiply_bfloat16(const View&, const View&, const View&) { return false; }

#endif

}  // namespace adjoint::cpu
