// Products of small matrices: a tile of the result stays in registers while all of k passes.
#pragma once
#include <cstdint>
#include <type_traits>

#include "compilers.h"
#include "isa.h"
#include "square.h"

namespace adjoint::cpu {

// One matrix in place: `down` and `right` are the elements between rows and between columns.
template <class T> struct Matrix {
  T* data;
  int64_t down, right;
  T* at(int64_t i, int64_t j) const { return data + i * down + j * right; }
};

// Of sums whose terms are listed: where one has its element of the first factor, and where the row that it meets of the other begins.
struct Term { int64_t at, row; };

// Rows of dense elements: so many apart, or each at an offset of its own.
template <class T> struct EvenRows {
  const T* data;
  int64_t down;
  [[gnu::always_inline]] const T* row(int64_t q) const { return data + q * down; }
  [[gnu::always_inline]] EvenRows from(int64_t j) const { return {data + j, down}; }
};
template <class T> struct ScatteredRows {
  const T* data;
  const int64_t* offsets;
  [[gnu::always_inline]] const T* row(int64_t q) const { return data + offsets[q]; }
  [[gnu::always_inline]] ScatteredRows from(int64_t j) const { return {data + j, offsets}; }
};

template <class B> constexpr bool is_even = false;
template <class T> constexpr bool is_even<EvenRows<T>> = true;

// W bytes of numbers. Of one it is the number itself: GCC keeps a vector of one in memory.
template <class T, int W, bool one = W == sizeof(T)> struct Lanes {
  typedef T type __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
};
template <class T, int W> struct Lanes<T, W, true> { using type = T; };

// c (m, n) = a (m, k) b (k, n), or is increased by it; c has right == 1.
template <class T, class B = EvenRows<T>> struct SmallProduct {
  Matrix<const T> a;
  B b;
  Matrix<T> c;
  int64_t m, n, k;
  bool increased;
};

// `rows` rows of the sums, in vectors of `bytes` at `vectors` places; they stay in registers while all of k passes.
template <class T, int bytes, int vectors, int rows> struct Tile {
  using Vector = typename Lanes<T, bytes>::type;
  Vector sum[rows][vectors];

  [[gnu::always_inline]] inline void clear() {
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) sum[r][v] = Vector{};
  }
  // Adds what steps of k give, from where `a` has the factors of the first one. Two pointers and two distances reach eight rows, so that all of them
  // stay in registers. The vectors that step q reads are at place(q, v).
  template <class Place> [[gnu::always_inline]] inline void add(Matrix<const T> a, int64_t steps, Place place) {
    constexpr int64_t size = sizeof(T);
    const int64_t across = a.right * size;
    int64_t next = a.down * size, third = 3 * next;
    const char *upper = reinterpret_cast<const char*>(a.data), *lower = upper + 4 * next;
    ADJOINT_OPAQUE(third);
    ADJOINT_OPAQUE(lower);
    for (int64_t q = 0; q < steps; q++, upper += across, lower += across) {
      ADJOINT_OPAQUE(next);   // or twice of it would be kept, too
      Vector row[vectors];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) row[v] = *reinterpret_cast<const Vector*>(place(q, v));
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        const T factor = *reinterpret_cast<const T*>((r < 4 ? upper : lower) + (r % 4 == 3 ? third : r % 4 * next));
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) sum[r][v] += factor * row[v];
      }
    }
  }
};

// All rows, at most `tallest` at a time, in tiles that call(integral constant, first row) makes. Vectors of W = 16 get small code.
template <int W, int tallest, class F> [[gnu::always_inline]] inline void by_rows(int64_t m, F&& call) {
  int64_t i = 0;
  if constexpr (W > 16 && tallest == 8)
    for (; i + 8 <= m; i += 8) call(std::integral_constant<int, 8>{}, i);
  if constexpr (tallest >= 4)
    for (; i + 4 <= m; i += 4) call(std::integral_constant<int, 4>{}, i);
  if constexpr (W > 16)
    switch (m - i) {
      case 3: return call(std::integral_constant<int, 3>{}, i);
      case 2: return call(std::integral_constant<int, 2>{}, i);
    }
  for (; i < m; i++) call(std::integral_constant<int, 1>{}, i);
}

// Columns of a product from j on, in vectors of `bytes` side by side, of which the last ends where the columns do: what it shares with the one before is
// the same in both. A kernel for each number of vectors, so that the loop over k has the registers for itself.
template <class T, class B, int bytes, int vectors> struct Columns {
  static constexpr bool narrow = bytes < 64;
  template <int W> [[gnu::always_inline]] static inline void run(const SmallProduct<T, B>& f, int64_t j) {
    if constexpr (bytes > W || (bytes < W && (vectors > 2 || !is_even<B>))) __builtin_unreachable();   // SmallMatmul asks for it at no level that has such W; scattered rows are whole vectors
    else if constexpr (vectors > 4) tile<1>(f, j, 0);
    else by_rows<W, (vectors == 4 ? 3 : vectors == 1 || bytes == 64 ? 8 : 4)>(f.m, [&](auto rows, int64_t i) __attribute__((always_inline)) { tile<rows>(f, j, i); });
  }

 private:
  static constexpr int64_t lanes = bytes / sizeof(T);
  template <int rows> [[gnu::always_inline]] static inline void tile(const SmallProduct<T, B>& f, int64_t j, int64_t i) {
    using Vector = typename Lanes<T, bytes>::type;
    const int64_t whole = (vectors - 1) * lanes, last = whole < f.n - lanes - j ? whole : f.n - lanes - j, down = f.c.down;   // no std::min: isa.h
    const auto at = [=](int v) __attribute__((always_inline)) { return v + 1 < vectors ? v * lanes : last; };
    const B b = f.b.from(j);
    Tile<T, bytes, vectors, rows> t;
    t.clear();
    t.add({f.a.at(i, 0), f.a.down, f.a.right}, f.k, [=](int64_t q, int v) __attribute__((always_inline)) { return b.row(q) + at(v); });
    T* c = f.c.data + i * down + j;
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++, c += down) {
      if (f.increased)   // all before one is written
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) t.sum[r][v] += *reinterpret_cast<const Vector*>(c + at(v));
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) *reinterpret_cast<Vector*>(c + at(v)) = t.sum[r][v];
    }
  }
};

// All columns of a product, more than half of a vector of `bytes` but not all: behind a row is the beginning of another, but for the last one.
template <class T, int bytes> struct NarrowColumns {
  static constexpr bool narrow = bytes < 64;
  template <int W> [[gnu::always_inline]] static inline void run(const SmallProduct<T, EvenRows<T>>& f) {
    if constexpr (bytes <= W) {
      alignas(64) T last[lanes] = {};
      for (int64_t j = 0; j < f.n; j++) last[j] = f.b.row(f.k - 1)[j];
      by_rows<W, 8>(f.m, [&](auto rows, int64_t i) __attribute__((always_inline)) { tile<rows>(f, i, last); });
    }
  }

 private:
  static constexpr int64_t lanes = bytes / sizeof(T), half = lanes / 2;
  template <int rows> [[gnu::always_inline]] static inline void tile(const SmallProduct<T, EvenRows<T>>& f, int64_t i, const T* last) {
    using Vector = typename Lanes<T, bytes>::type;
    using Half = typename Lanes<T, bytes / 2>::type;
    using Places = typename Lanes<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>, bytes>::type;
    const EvenRows<T> b = f.b;
    const int64_t before = f.k - 1, rest = f.n - half, down = f.c.down;
    Tile<T, bytes, 1, rows> t;
    t.clear();
    t.add({f.a.at(i, 0), f.a.down, f.a.right}, before, [=](int64_t q, int) __attribute__((always_inline)) { return b.row(q); });
    t.add({f.a.at(i, before), f.a.down, f.a.right}, 1, [=](int64_t, int) __attribute__((always_inline)) { return last; });
    Places places;
    for (int64_t l = 0; l < lanes; l++) places[l] = (l + rest) % lanes;
    T* c = f.c.data + i * down;
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++, c += down) {
      const Vector turned = shuffle(t.sum[r][0], t.sum[r][0], places);
      Half low, high;
      __builtin_memcpy(&low, &t.sum[r][0], bytes / 2);
      __builtin_memcpy(&high, &turned, bytes / 2);
      if (f.increased) {
        const Half more = *reinterpret_cast<const Half*>(c + rest) + high;
        *reinterpret_cast<Half*>(c) += low;
        *reinterpret_cast<Half*>(c + rest) = more;
      } else {
        *reinterpret_cast<Half*>(c) = low;
        *reinterpret_cast<Half*>(c + rest) = high;
      }
    }
  }
};

template <class T, class B = EvenRows<T>> struct SmallMatmul {
  static void run(Matrix<const T> a, B b, Matrix<T> c, int64_t m, int64_t n, int64_t k, bool increased) {
    const SmallProduct<T, B> f{a, b, c, m, n, k, increased};
    const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    const auto takes = [=](int64_t vector) { return bytes >= vector || (is_even<B> && k >= 4 && 2 * bytes > vector); };
    if (isa::level >= isa::avx512 && takes(64)) return columns<64>(f);
    if (isa::level >= isa::avx2 && takes(32)) return columns<32>(f);
    if (takes(16)) return columns<16>(f);
    if constexpr (sizeof(T) == 4)
      if (takes(8)) return columns<8>(f);
    call<sizeof(T), 1>(f, 0);
  }

 private:
  template <int bytes, int vectors> static void call(const SmallProduct<T, B>& f, int64_t j) { isa::call<Columns<T, B, bytes, vectors>, const SmallProduct<T, B>&, int64_t>(f, j); }
  template <int bytes> static void columns(const SmallProduct<T, B>& f) {
    constexpr int64_t lanes = bytes / sizeof(T);
    if constexpr (is_even<B> && lanes > 2)
      if (f.n < lanes) return isa::call<NarrowColumns<T, bytes>, const SmallProduct<T, B>&>(f);
    const int64_t few = f.m % 4;
    if (few > 0 && f.m > 4 && f.n > 3 * lanes) {
      columns<bytes>({f.a, f.b, f.c, f.m - few, f.n, f.k, f.increased});
      return columns<bytes>({{f.a.at(f.m - few, 0), f.a.down, f.a.right}, f.b, {f.c.at(f.m - few, 0), f.c.down, 1}, few, f.n, f.k, f.increased});
    }
    // Few rows have enough sums at once in more vectors. What is left is a vector at least: none may begin in another strip, which has its sums already.
    int64_t j = 0;
    const auto fits = [&](int64_t vectors) { return f.n - j == vectors * lanes || f.n - j > vectors * lanes + lanes; };
    if (f.m == 1)
      for (; fits(8); j += 8 * lanes) call<bytes, 8>(f, j);
    if (f.m < 4)
      for (; fits(4); j += 4 * lanes) call<bytes, 4>(f, j);
    for (; j + 3 * lanes < f.n; j += 2 * lanes) call<bytes, 2>(f, j);
    if (j + 2 * lanes < f.n) return call<bytes, 3>(f, j);
    if (j + lanes < f.n) return call<bytes, 2>(f, j);
    if (j < f.n) call<bytes, 1>(f, j);
  }
};

// Many products of a few numbers each, in any layout: the sums of up to four columns stay in registers. The matrices of a and of b lie
// `a_step` and `b_step` elements apart, those of c follow each other.
template <class T> struct TinyMatmul {
  static constexpr bool narrow = true;
  static bool serves(int64_t m, int64_t n, int64_t k, bool rows) { return k <= 16 && m * n * k <= (rows ? 128 : 512); }
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> a, int64_t a_step, Matrix<const T> b, int64_t b_step, T* c, int64_t count, int64_t m, int64_t n, int64_t k) {
    for (; count > 0; count--, a.data += a_step, b.data += b_step, c += m * n) one(a, b, Matrix<T>{c, n, 1}, m, n, k);
  }

 private:
  [[gnu::always_inline]] static inline void one(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) columns<4>(a, b.at(0, j), b, c.at(0, j), c, m, k);
    switch (n - j) {
      case 3: return columns<3>(a, b.at(0, j), b, c.at(0, j), c, m, k);
      case 2: return columns<2>(a, b.at(0, j), b, c.at(0, j), c, m, k);
      case 1: return columns<1>(a, b.at(0, j), b, c.at(0, j), c, m, k);
    }
  }
  template <int count> [[gnu::always_inline]] static inline void columns(Matrix<const T> a, const T* b, Matrix<const T> layout, T* c, Matrix<T> to, int64_t m, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
      T sum[count] = {};
      for (int64_t q = 0; q < k; q++) {
        const T factor = *a.at(i, q);
#pragma GCC unroll 4
        for (int j = 0; j < count; j++) sum[j] += factor * b[q * layout.down + j * layout.right];
      }
#pragma GCC unroll 4
      for (int j = 0; j < count; j++) c[i * to.down + j] = sum[j];
    }
  }
};

// Some columns of a matrix, laid out so that its rows follow each other in memory, `width` apart: for several tiles of rows that read them.
// What is left of a vector is 0: not of the stack, where numbers may lie with which processors are slow.
template <class T> struct Strip {
  static constexpr int64_t width = 192 / sizeof(T), deepest = 160;   // three vectors of 64 bytes; 30 KiB, less than a cache of the first level has
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> b, int64_t columns, int64_t k, T* to) {
    constexpr int64_t longest = 64 / sizeof(T);
    if (columns < longest)
      for (int64_t q = 0; q < k; q++) __builtin_memset(to + q * width, 0, sizeof(T) * longest);
    if (b.right == 1) {
      if (columns == width)
        for (int64_t q = 0; q < k; q++) __builtin_memcpy(to + q * width, b.data + q * b.down, sizeof(T) * width);
      else
        for (int64_t q = 0; q < k; q++)
          for (int64_t j = 0; j < columns; j++) to[q * width + j] = b.data[q * b.down + j];
      return;
    }
    int64_t j = 0;
    if constexpr (sizeof(T) <= 8) turned<W / sizeof(T)>(b, columns, k, to, j);
    for (; j < columns; j++)
      for (int64_t q = 0; q < k; q++) to[q * width + j] = b.data[j * b.right + q];
  }

 private:
  // Columns from j on, as many squares as fit, then smaller ones.
  template <int lanes> [[gnu::always_inline]] static inline void turned(Matrix<const T> b, int64_t columns, int64_t k, T* to, int64_t& j) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    for (; j + lanes <= columns; j += lanes) {
      const T* const from = b.data + j * b.right;
      int64_t q = 0;
      for (; q + lanes <= k; q += lanes)
        transpose<Word, lanes>(reinterpret_cast<char*>(to + q * width + j), width * sizeof(T), reinterpret_cast<const char*>(from + q), b.right * sizeof(T));
      for (; q < k; q++)
        for (int64_t x = 0; x < lanes; x++) to[q * width + j + x] = from[x * b.right + q];
    }
    if constexpr (lanes > 4) turned<lanes / 2>(b, columns, k, to, j);
  }
};

// Each row of b, of pairs, and behind it that of i b, in rows of a strip's width.
template <class R> struct PairedRows {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const R* b, int64_t down, int64_t n, int64_t k, R* to) {
    constexpr int64_t width = Strip<R>::width, longest = 64 / sizeof(R);
    const int64_t whole = n < longest ? longest : n;
    for (int64_t q = 0; q < k; q++, b += down, to += 2 * width) {
      for (int64_t j = n; j < whole; j++) to[j] = to[width + j] = 0;
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < n; j += 2) {
        const R re = b[j], im = b[j + 1];
        to[j] = re, to[j + 1] = im, to[width + j] = -im, to[width + j + 1] = re;
      }
    }
  }
};

// c = p + i q, of pairs in rows of a strip's width.
template <class R> struct JoinPairs {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const R* p, const R* q, Matrix<R> c, int64_t m, int64_t n) {
    for (int64_t i = 0; i < m; i++, p += Strip<R>::width, q += Strip<R>::width) {
      R* const to = c.data + i * c.down;
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < n; j++) to[2 * j] = p[2 * j] - q[2 * j + 1], to[2 * j + 1] = p[2 * j + 1] + q[2 * j];
    }
  }
};

// c(i, j) = the product of row i of a and row j of b, for few rows of one of them: what many rows hold is read once, without packing.
template <class T> struct RowProducts {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* a, int64_t a_down, int64_t m, const T* b, int64_t b_down, int64_t n, Matrix<T> c, int64_t k) {
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) rows<W, 4>(a, a_down, m, b + j * b_down, b_down, c.at(0, j), c, k);
    for (; j < n; j++) rows<W, 1>(a, a_down, m, b + j * b_down, b_down, c.at(0, j), c, k);
  }

 private:
  template <int W, int wide> [[gnu::always_inline]] static inline void rows(const T* a, int64_t a_down, int64_t m, const T* b, int64_t b_down, T* y, Matrix<T> c, int64_t k) {
    int64_t i = 0;
    for (; i + 2 <= m; i += 2) tile<W, 2, wide>(a + i * a_down, a_down, b, b_down, y + i * c.down, c, k);
    if (i < m) tile<W, 1, wide>(a + i * a_down, a_down, b, b_down, y + i * c.down, c, k);
  }
  template <int W, int tall, int wide> [[gnu::always_inline]] static inline void tile(const T* a, int64_t a_down, const T* b, int64_t b_down, T* y, Matrix<T> c, int64_t k) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t lanes = W / sizeof(T);
    Vector sum[tall][wide];
    for (int i = 0; i < tall; i++)
      for (int j = 0; j < wide; j++) sum[i][j] = Vector{};
    int64_t q = 0;
    for (; q + lanes <= k; q += lanes)
#pragma GCC unroll 2
      for (int i = 0; i < tall; i++)
#pragma GCC unroll 4
        for (int j = 0; j < wide; j++) sum[i][j] += *reinterpret_cast<const Vector*>(a + i * a_down + q) * *reinterpret_cast<const Vector*>(b + j * b_down + q);
#pragma GCC unroll 2
    for (int i = 0; i < tall; i++)
#pragma GCC unroll 4
      for (int j = 0; j < wide; j++) {
        T total = 0;
        for (int64_t l = 0; l < lanes; l++) total += sum[i][j][l];
        for (int64_t r = q; r < k; r++) total += a[i * a_down + r] * b[j * b_down + r];
        y[i * c.down + j * c.right] = total;
      }
  }
};

}  // namespace adjoint::cpu
