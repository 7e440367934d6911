// AVX512_BF16: a tile of 12 x 32 sums in registers, two steps of k at a time. AMX: 32 x 32 sums, 32 steps at a time.
#include "bfloat16.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "compilers.h"
#include "isa.h"
#include "matrices.h"
#include "pool.h"
#include "small_matmul.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"   // GCC 12 takes the intrinsics' own undefined operand for one of ours
#endif
#endif

namespace adjoint::cpu {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

[[gnu::target("arch=x86-64-v4"), gnu::always_inline]] inline __mmask32 first_of(int64_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// Those of 32 floats that are there, the others 0. Numbers below the normal ones become 0: sums by these instructions are none.
[[gnu::target("arch=x86-64-v4,avx512bf16"), gnu::always_inline]] inline __m512i rounded(const float* x, __mmask32 which) {
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(which), x), high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(which >> 16), x + 16);
  __m512i y;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(y) : "v"(low), "v"(high));
  return y;
}

constexpr int64_t tall = 12;   // rows of sums in vectors

// Four tiles of 16 x 16 sums, by two of a's rows and two of the panel's columns.
struct alignas(64) Shapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr int64_t across = wide * 4;   // bytes from one row of sums to the next

[[gnu::target("arch=x86-64-v4,amx-tile,amx-bf16")]] void configure(int64_t pairs) {
  Shapes shapes;
  for (int i : {4, 5}) shapes.bytes[i] = static_cast<uint16_t>(pairs * 4);
  for (int i : {6, 7}) shapes.rows[i] = static_cast<uint8_t>(pairs);
  asm volatile("" : : "r"(&shapes) : "memory");   // GCC is not told that the next reads all of it
  _tile_loadconfig(&shapes);
}
[[gnu::target("arch=x86-64-v4,amx-tile,amx-bf16")]] void release() { _tile_release(); }

// The address sanitizer does not see what tiles read and write: before that it is shown the rows of such a tile.
[[gnu::target("arch=x86-64-v4,amx-tile,amx-bf16"), gnu::always_inline]] inline void show([[maybe_unused]] int t, [[maybe_unused]] const void* memory, [[maybe_unused]] int64_t apart) {
#if defined(__SANITIZE_ADDRESS__)
  Shapes shapes;
  _tile_storeconfig(&shapes);
  asm volatile("" : "+m"(shapes));   // GCC is not told that all of it was written
  for (int64_t r = 0; r < shapes.rows[t]; r++)
    for (int64_t i = 0; i < shapes.bytes[t]; i += 2) static_cast<void>(static_cast<const volatile char*>(memory)[r * apart + i]);
#endif
}

struct EvenSteps {
  int64_t in_a, in_b;
  Term operator[](int64_t q) const { return {q * in_b, q * in_a}; }
};
template <bool both, bool two, class Steps> [[gnu::target("arch=x86-64-v4,amx-tile,amx-bf16"), gnu::always_inline]] inline void add_steps(const Squares& s, const uint16_t* a, int64_t from, Steps steps, int64_t count) {
  for (int64_t q = 0; q < count; q++) {
    const Term step = steps[q];
    const uint16_t* const rows = a + step.row;
    const int64_t at = from + step.at;
    show(4, rows, s.a_down * 2), show(6, s.left + at, s.b_down * 4);
    if constexpr (two) show(7, s.right + at, s.b_down * 4);
    if constexpr (both) show(5, rows + s.a_half, s.a_down * 2);
    _tile_loadd(4, rows, s.a_down * 2);
    _tile_loadd(6, s.left + at, s.b_down * 4);
    if constexpr (two) _tile_loadd(7, s.right + at, s.b_down * 4);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (both) _tile_loadd(5, rows + s.a_half, s.a_down * 2);
    if constexpr (two) _tile_dpbf16ps(1, 4, 7);
    if constexpr (both) _tile_dpbf16ps(2, 5, 6);
    if constexpr (both && two) _tile_dpbf16ps(3, 5, 7);
  }
}
template <class Steps> [[gnu::target("arch=x86-64-v4,amx-tile,amx-bf16")]] void add_squares(const Squares& s, Steps steps, int64_t n, float* c, int64_t count, bool increased) {
  const uint16_t* a = s.a;
  for (int64_t i = 0; i < count; i++, a += s.a_next, c += square * wide) {
    for (int t = 0; t < 4; t++) show(t, c + t / 2 * words * wide + t % 2 * words, across);
    if (increased) {
      _tile_loadd(0, c, across);
      _tile_loadd(1, c + words, across);
      _tile_loadd(2, c + words * wide, across);
      _tile_loadd(3, c + words * wide + words, across);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    if (s.right) s.both ? add_steps<true, true>(s, a, i * s.b_next, steps, n) : add_steps<false, true>(s, a, i * s.b_next, steps, n);
    else add_steps<true, false>(s, a, i * s.b_next, steps, n);
    _tile_stored(0, c, across);
    _tile_stored(1, c + words, across);
    _tile_stored(2, c + words * wide, across);
    _tile_stored(3, c + words * wide + words, across);
  }
}

}  // namespace

[[gnu::target("arch=x86-64-v4")]] void transpose(uint32_t* to, const uint16_t* from, int64_t down, int64_t rows, int64_t n, int64_t pairs) {
  __m512i r[words], s[words];
  const __mmask32 which = first_of(n);
#pragma GCC unroll 16
  for (int64_t i = 0; i < words; i++) r[i] = _mm512_maskz_loadu_epi16(which & (0u - static_cast<uint32_t>(i < rows)), from + std::min(i, std::max<int64_t>(rows - 1, 0)) * down);
#pragma GCC unroll 16
  for (int64_t i = 0; i < words; i += 2) s[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]), s[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
#pragma GCC unroll 16
  for (int64_t i = 0; i < words; i += 4) {   // r[i + j]: of these four rows the columns j, 4 + j, 8 + j and 12 + j
    r[i] = _mm512_unpacklo_epi64(s[i], s[i + 2]), r[i + 1] = _mm512_unpackhi_epi64(s[i], s[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(s[i + 1], s[i + 3]), r[i + 3] = _mm512_unpackhi_epi64(s[i + 1], s[i + 3]);
  }
#pragma GCC unroll 4
  for (int64_t j = 0; j < 4; j++) {
    const __m512i even = _mm512_shuffle_i32x4(r[j], r[4 + j], 0x88), odd = _mm512_shuffle_i32x4(r[j], r[4 + j], 0xdd);
    const __m512i even_below = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0x88), odd_below = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0xdd);
    s[j] = _mm512_shuffle_i32x4(even, even_below, 0x88), s[8 + j] = _mm512_shuffle_i32x4(even, even_below, 0xdd);
    s[4 + j] = _mm512_shuffle_i32x4(odd, odd_below, 0x88), s[12 + j] = _mm512_shuffle_i32x4(odd, odd_below, 0xdd);
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < words && i < pairs; i++) _mm512_storeu_si512(to + i * wide, s[i]);
}

Tiles::Tiles(int64_t pairs) { configure(pairs); }
Tiles::~Tiles() { release(); }
void Tiles::multiply(const Squares& s, const Term* steps, int64_t n, float* c, int64_t count, bool increased) const { add_squares(s, steps, n, c, count, increased); }
void Tiles::multiply(const Squares& s, int64_t in_a, int64_t in_b, int64_t n, float* c, int64_t count, bool increased) const { add_squares(s, EvenSteps{in_a, in_b}, n, c, count, increased); }

void put(const Matrix<float>& y, const float* x, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; r++)
    if (y.right == 1) std::memcpy(y.at(r, 0), x + r * wide, static_cast<size_t>(n) * sizeof(float));
    else for (int64_t j = 0; j < n; j++) *y.at(r, j) = x[r * wide + j];
}
[[gnu::target("arch=x86-64-v4,avx512bf16")]] void put(const Matrix<BFloat16>& y, const float* x, int64_t rows, int64_t n) {
  const __mmask32 which = first_of(n);
  for (int64_t r = 0; r < rows && y.right == 1; r++) _mm512_mask_storeu_epi16(y.at(r, 0), which, rounded(x + r * wide, which));
  for (int64_t r = 0; r < rows && y.right != 1; r++)
    for (int64_t j = 0; j < n; j++) *y.at(r, j) = BFloat16(x[r * wide + j]);
}

namespace {

// How sums are made: n columns of c (rows, 32), of m rows at least, of as many rows of a, each of `pairs` pairs, by a packed panel; in tiles, which the thread has, or in vectors.
struct Way {
  int64_t rows;
  bool tiles;
  void (*multiply)(const uint32_t* a, int64_t pairs, const uint32_t* panel, int64_t m, int64_t n, float* c);
};

// Columns [first, first + 32) of b (k, n) in `pairs` pairs of rows; what is outside counts as 0.
[[gnu::target("arch=x86-64-v4")]] void pack(uint32_t* to, const Item<uint16_t>& b, int64_t first, int64_t pairs) {
  const int64_t k = b.rows, width = std::min(wide, b.columns - first);
  std::fill(to + (k + 1) / 2 * wide, to + pairs * wide, 0u);
  if (b.right != 1) {   // the transpose lies in rows: a pair is a word
    for (int64_t j = 0; j < wide; j += words)
      for (int64_t q = 0; q < k; q += 2 * words)
        transpose(to + q / 2 * wide + j, b.data + (first + j) * b.right + q, b.right, width - j, std::min(2 * words, k - q), std::min(words, pairs - q / 2));
    return;
  }
  const __mmask32 which = first_of(width);
  for (int64_t q = 0; q < k; q += 2, to += wide) {
    const uint16_t* row = b.data + q * b.down + first;
    const __m512i even = _mm512_maskz_loadu_epi16(which, row), odd = q + 1 < k ? _mm512_maskz_loadu_epi16(which, row + b.down) : _mm512_setzero_si512();
    const __m512i low = _mm512_unpacklo_epi16(even, odd), high = _mm512_unpackhi_epi16(even, odd);   // of each eight
    _mm512_storeu_si512(to, _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high));
    _mm512_storeu_si512(to + words, _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high));
  }
}

// c (12, 32) = 12 rows of a, each of `pairs` pairs, by a packed panel.
[[gnu::target("arch=x86-64-v4,avx512bf16")]] void multiply_tile(const uint32_t* a, int64_t pairs, const uint32_t* panel, [[maybe_unused]] int64_t m, [[maybe_unused]] int64_t n, float* c) {
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

void multiply_square(const uint32_t* a, int64_t pairs, const uint32_t* panel, int64_t m, int64_t n, float* c) {
  add_squares({reinterpret_cast<const uint16_t*>(a), 2 * pairs, 2 * words * pairs, 0, panel, n > words ? panel + words : nullptr, wide, 0, m > words}, EvenSteps{2 * words, words * wide}, pairs / words, c, 1, false);
}

constexpr Way in_vectors{tall, false, multiply_tile}, in_tiles{square, true, multiply_square};
// Of fewer products tiles are mostly padding.
const Way& way_for(int64_t rows, int64_t k, int64_t n) { return rows * k * n >= 8192 && k >= 16 && has_tiles() ? in_tiles : in_vectors; }

int64_t pairs_of(const Way& way, int64_t k) { return way.tiles ? pairs_in_tiles(k) : (k + 1) / 2; }

// Rows [begin, end) of m, each of `pairs` pairs, by a packed panel of n columns.
template <class Y> void multiply_panel(const Way& way, const uint16_t* a, int64_t begin, int64_t end, int64_t m, int64_t pairs, const uint32_t* panel, int64_t n, const Matrix<Y>& y) {
  alignas(64) float c[square * wide];
  for (int64_t i = begin; i < end; i += way.rows) {
    const int64_t top = std::min(i, std::max(m, way.rows) - way.rows);  // the last sums may be of some rows again
    way.multiply(reinterpret_cast<const uint32_t*>(a) + top * pairs, pairs, panel, m, n, c);
    put({y.at(i, 0), y.down, y.right}, c + (i - top) * wide, std::min(way.rows, end - top) - (i - top), n);
  }
}

// f(0), f(1), ... f(n - 1): on all threads, if the product is `alone`.
template <class F> void in_turn(bool alone, int64_t n, F&& f) {
  if (alone) return pool::parallel(n, f);
  for (int64_t i = 0; i < n; i++) f(i);
}

// a: m rows of as many pairs as `way` takes, at least way.rows. Y: bfloat16, or float, which is not rounded. A product that is not alone finds the thread's tiles there.
template <class Y> void multiply(const Way& way, const uint16_t* a, int64_t m, const Item<uint16_t>& b, const Matrix<Y>& y, bool alone) {
  const int64_t n = b.columns, pairs = pairs_of(way, b.rows), panels = (n + wide - 1) / wide;
  const int64_t height = std::clamp<int64_t>(262144 / pairs, 96, 512) / way.rows * way.rows, blocks = (m + height - 1) / height;   // 1 MiB of rows meet all panels
  const Buffer memory(panels * pairs * wide * 4);
  uint32_t* packed = memory.as<uint32_t>();
  in_turn(alone, panels, [&](int64_t p) { pack(packed + p * pairs * wide, b, p * wide, pairs); });
  in_turn(alone, blocks * panels, [&](int64_t unit) {
    std::optional<Tiles> tiles;
    if (alone && way.tiles) tiles.emplace();
    const int64_t panel = unit % panels, first = panel * wide, begin = unit / panels * height, n_here = std::min(wide, n - first);
    multiply_panel<Y>(way, a, begin, std::min(m, begin + height), m, pairs, packed + panel * pairs * wide, n_here, {y.at(0, first), y.down, y.right});
  });
}

// Whether the rows can be read as they lie.
bool suits(const Way& way, const Item<uint16_t>& a) { return a.right == 1 && a.down == a.columns && a.columns == 2 * pairs_of(way, a.columns) && a.rows >= way.rows; }
[[gnu::target("arch=x86-64-v4")]] void copy_row(uint16_t* to, const uint16_t* from, int64_t n, int64_t padded) {
  for (int64_t i = 0; i < padded; i += 32)
    _mm512_mask_storeu_epi16(to + i, first_of(padded - i), _mm512_maskz_loadu_epi16(first_of(std::max<int64_t>(n - i, 0)), from + i));
}
// The rows as `way` reads them: what is beyond their ends, and beyond the last of them, is 0. Of those whose elements lie apart a copy is made
// first, in `dense`.
void copy_padded(const Way& way, Item<uint16_t> a, uint16_t* to, uint16_t* dense, bool alone) {
  constexpr int64_t part = 64;
  const int64_t m = a.rows, k = a.columns, padded = 2 * pairs_of(way, k), rows = std::max(m, way.rows);
  if (a.right != 1) {
    copy_rows(a, dense);
    a = {dense, m, k, k, 1};
  }
  in_turn(alone, (rows + part - 1) / part, [&](int64_t p) {
    for (int64_t r = p * part; r < std::min(rows, (p + 1) * part); r++) copy_row(to + r * padded, a.data + r * a.down, r < m ? k : 0, padded);
  });
}
bool is_transposed(const View& v) { return v.strides[v.ndim - 1] != 1 && v.strides[v.ndim - 2] == 1; }

}  // namespace

bool has_tiles() { return isa::level >= isa::amx_bf16 && isa::may_use_tiles(); }
void pack_for_tiles(uint32_t* to, const Item<uint16_t>& b) {
  const int64_t pairs = pairs_in_tiles(b.rows);
  for (int64_t first = 0; first < b.columns; first += wide, to += pairs * wide) pack(to, b, first, pairs);
}
void pad_for_tiles(uint16_t* to, const uint16_t* x, int64_t rows, int64_t n) {
  copy_padded(in_tiles, {x, rows, n, n, 1}, to, nullptr, false);
}
[[gnu::target("arch=x86-64-v4,avx512bf16")]] void pad_for_tiles(uint16_t* to, const float* x, int64_t rows, int64_t n) {
  const int64_t padded = 2 * pairs_in_tiles(n);
  for (int64_t r = 0; r < std::max(rows, square); r++)
    for (int64_t i = 0; i < padded; i += 2 * words, to += 2 * words) _mm512_storeu_si512(to, rounded(x + r * n + i, r < rows ? first_of(n - i) : 0));
}
void multiply_in_tiles(const uint16_t* a, int64_t rows, int64_t k, const uint32_t* packed, int64_t deep, float* y, int64_t n) {
  const int64_t next = pairs_in_tiles(deep) * wide;
  for (int64_t first = 0; first < n; first += wide, packed += next)
    multiply_panel<float>(in_tiles, a, 0, rows, rows, pairs_in_tiles(k), packed, std::min(wide, n - first), {y + first, n, 1});
}

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
  const Way& way = way_for(rows, k, swapped ? m : n);
  if (&way == &in_vectors && m * n * k <= (1 << 21)) return false;   // to lay operands out in pairs takes longer than to multiply them as floats
  const bool alone = batches == 1, copied = !suits(way, side(l, 0));
  pool::parallel_for(batches, std::max<int64_t>(1, (way.tiles ? 1 << 20 : 1 << 17) / (m * n * k)), [&](int64_t first, int64_t last) {
    std::optional<Tiles> tiles;
    if (!alone && way.tiles) tiles.emplace();
    const Buffer memory(copied ? std::max(rows, way.rows) * pairs_of(way, k) * 4 : 1), packed(side(l, 0).right != 1 ? rows * k * 2 : 1);
    for (int64_t i = first; i < last; i++) {
      const Item<uint16_t> left = side(l, i);
      if (copied) copy_padded(way, left, memory.as<uint16_t>(), packed.as<uint16_t>(), alone);
      const uint16_t* from = copied ? memory.as<uint16_t>() : left.data;
      const int64_t down = swapped ? 1 : n, across = swapped ? n : 1;
      if (y.dtype == DType::float32) multiply<float>(way, from, rows, side(right, i), {y.as<float>() + i * m * n, down, across}, alone);
      else multiply<BFloat16>(way, from, rows, side(right, i), {y.as<BFloat16>() + i * m * n, down, across}, alone);
    }
  });
  return true;
}

#else

bool multiply_bfloat16(const View&, const View&, const View&) { return false; }

#endif

}  // namespace adjoint::cpu
