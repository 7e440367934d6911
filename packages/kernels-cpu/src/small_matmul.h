// Products of small matrices without packing: a tile of the result stays in registers while all of k passes.
#pragma once
#include <cstdint>

namespace adjoint::cpu {

// One matrix in place: `down` and `right` are the elements between rows and between columns.
template <class T> struct Matrix {
  T* data;
  int64_t down, right;
  T* at(int64_t i, int64_t j) const { return data + i * down + j * right; }
};

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

template <class T, class B = EvenRows<T>> struct SmallMatmul {
  // c (m, n) = a (m, k) b (k, n); c has right == 1.
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> a, B b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
    constexpr int rows = W == 64 ? 8 : 4;
    int64_t j = 0;
    strip<W, 2, rows>(a, b, c, m, n, k, j);
    strip<W, 1, rows>(a, b, c, m, n, k, j);
    if constexpr (W > 32) strip<32, 1, rows>(a, b, c, m, n, k, j);
    if constexpr (W > 16) strip<16, 1, rows>(a, b, c, m, n, k, j);
    strip<sizeof(T), 1, rows>(a, b, c, m, n, k, j);
  }

 private:
  // Columns from j on, as many strips as fit.
  template <int W, int vectors, int rows>
  [[gnu::always_inline]] static inline void strip(Matrix<const T> a, B b, Matrix<T> c, int64_t m, int64_t n, int64_t k, int64_t& j) {
    constexpr int64_t width = W / sizeof(T) * vectors;
    for (; j + width <= n; j += width) {
      int64_t i = 0;
      for (; i + rows <= m; i += rows) tile<W, vectors, rows>(a.data + i * a.down, a, b.from(j), c.data + i * c.down + j, c.down, k);
      if (m - i >= 4 && rows > 4) {
        tile<W, vectors, 4>(a.data + i * a.down, a, b.from(j), c.data + i * c.down + j, c.down, k);
        i += 4;
      }
      for (; i < m; i++) tile<W, vectors, 1>(a.data + i * a.down, a, b.from(j), c.data + i * c.down + j, c.down, k);
    }
  }
  template <int W, int vectors, int rows>
  [[gnu::always_inline]] static inline void tile(const T* a, Matrix<const T> layout, B b, T* c, int64_t c_down, int64_t k) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t lanes = W / sizeof(T);
    Vector sum[rows][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) sum[r][v] = Vector{};
    for (int64_t q = 0; q < k; q++) {
      Vector row[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) row[v] = *reinterpret_cast<const Vector*>(b.row(q) + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        const T factor = a[r * layout.down + q * layout.right];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) sum[r][v] += factor * row[v];
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) *reinterpret_cast<Vector*>(c + r * c_down + v * lanes) = sum[r][v];
  }
};

}  // namespace adjoint::cpu
