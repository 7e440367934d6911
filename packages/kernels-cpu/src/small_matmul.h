// Products of small matrices: a tile of the result stays in registers while all of k passes.
#pragma once
#include <cstdint>
#include <type_traits>

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

// W bytes of numbers. Of one it is the number itself: GCC keeps a vector of one in memory.
template <class T, int W, bool one = W == sizeof(T)> struct Lanes {
  typedef T type __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
};
template <class T, int W> struct Lanes<T, W, true> { using type = T; };

template <class T, class B = EvenRows<T>> struct SmallMatmul {
  // c (m, n) = a (m, k) b (k, n), or is increased by it; c has right == 1.
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> a, B b, Matrix<T> c, int64_t m, int64_t n, int64_t k, bool increased) {
    constexpr int rows = W == 64 ? 8 : 4;
    int64_t j = 0;
    if (m < 4) strip<W, 8, 1>(a, b, c, m, n, k, increased, j);   // enough sums at once for a row alone
    strip<W, 2, rows>(a, b, c, m, n, k, increased, j);
    strip<W, 1, rows>(a, b, c, m, n, k, increased, j);
    if constexpr (W > 32) strip<32, 1, rows>(a, b, c, m, n, k, increased, j);
    if constexpr (W > 16) strip<16, 1, rows>(a, b, c, m, n, k, increased, j);
    strip<sizeof(T), 1, rows>(a, b, c, m, n, k, increased, j);
  }

 private:
  // Columns from j on, as many strips as fit.
  template <int W, int vectors, int rows>
  [[gnu::always_inline]] static inline void strip(Matrix<const T> a, B b, Matrix<T> c, int64_t m, int64_t n, int64_t k, bool increased, int64_t& j) {
    constexpr int64_t width = W / sizeof(T) * vectors;
    for (; j + width <= n; j += width) {
      int64_t i = 0;
      for (; i + rows <= m; i += rows) tile<W, vectors, rows>(a.data + i * a.down, a, b.from(j), c.data + i * c.down + j, c.down, k, increased);
      if constexpr (rows > 4)
        if (m - i >= 4) {
          tile<W, vectors, 4>(a.data + i * a.down, a, b.from(j), c.data + i * c.down + j, c.down, k, increased);
          i += 4;
        }
      for (; i < m; i++) tile<W, vectors, 1>(a.data + i * a.down, a, b.from(j), c.data + i * c.down + j, c.down, k, increased);
    }
  }
  template <int W, int vectors, int rows>
  [[gnu::always_inline]] static inline void tile(const T* a, Matrix<const T> layout, B b, T* c, int64_t c_down, int64_t k, bool increased) {
    using Vector = typename Lanes<T, W>::type;
    constexpr int64_t lanes = W / sizeof(T);
    Vector sum[rows][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) sum[r][v] = Vector{};
    for (int64_t q = 0; q < k; q++) {
      Vector row[vectors];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) row[v] = *reinterpret_cast<const Vector*>(b.row(q) + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        const T factor = a[r * layout.down + q * layout.right];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) sum[r][v] += factor * row[v];
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) {
        Vector& to = *reinterpret_cast<Vector*>(c + r * c_down + v * lanes);
        to = increased ? to + sum[r][v] : sum[r][v];
      }
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
// Columns up to `filled` are 0.
template <class T> struct Strip {
  static constexpr int64_t width = 128 / sizeof(T), deepest = 256;   // 32 KiB, as a cache of the first level has
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> b, int64_t columns, int64_t filled, int64_t k, T* to) {
    for (int64_t q = 0; q < k; q++)
      for (int64_t j = columns; j < filled; j++) to[q * width + j] = 0;
    if (b.right == 1) {
      if (columns == width)
        for (int64_t q = 0; q < k; q++) __builtin_memcpy(to + q * width, b.data + q * b.down, sizeof(T) * width);
      else
        for (int64_t q = 0; q < k; q++)
          for (int64_t j = 0; j < columns; j++) to[q * width + j] = b.data[q * b.down + j];
      return;
    }
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr int lanes = W / sizeof(T);
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      const T* const from = b.data + j * b.right;
      int64_t q = 0;
      for (; q + lanes <= k; q += lanes)
        transpose<Word, lanes>(reinterpret_cast<char*>(to + q * width + j), width * sizeof(T), reinterpret_cast<const char*>(from + q), b.right * sizeof(T));
      for (; q < k; q++)
        for (int64_t x = 0; x < lanes; x++) to[q * width + j + x] = from[x * b.right + q];
    }
    for (; j < columns; j++)
      for (int64_t q = 0; q < k; q++) to[q * width + j] = b.data[j * b.right + q];
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
