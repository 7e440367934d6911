// The product of two matrices in memory, on one thread.
#pragma once
#include "blas.h"
#include "compilers.h"
#include "isa.h"
#include "small_matmul.h"

#include <algorithm>

namespace adjoint::cpu {

// Whether BLAS can read it, as it lies or as its transpose.
template <class T> bool rows_dense(const Matrix<T>& a, int64_t columns) { return a.right == 1 && a.down >= std::max<int64_t>(1, columns); }
template <class T> bool columns_dense(const Matrix<T>& a, int64_t rows) { return a.down == 1 && a.right >= std::max<int64_t>(1, rows); }

// Integers, which wrap: four rows of b at a time are added to each row of c, from a block of b that stays in the cache.
template <class T> struct IntegerProduct {
  static constexpr int64_t depth = 64;
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
    if (n == 1 && a.right == 1) return dots(a, b, c, m, k);
    for (int64_t i = 0; i < m; i++) std::fill_n(c.at(i, 0), n, T(0));
    for (int64_t first = 0; first < k; first += depth)
      for (int64_t i = 0; i < m; i++) add_rows(a.at(i, 0), a.right, b, c.at(i, 0), n, first, std::min(k, first + depth));
  }

 private:
  [[gnu::always_inline]] static inline void dots(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
      const T* row = a.at(i, 0);
      T sum = 0;
      for (int64_t q = 0; q < k; q++) sum += row[q] * b.data[q * b.down];
      *c.at(i, 0) = sum;
    }
  }
  [[gnu::always_inline]] static inline void add_rows(const T* a, int64_t right, Matrix<const T> b, T* c, int64_t n, int64_t q, int64_t end) {
    for (; q + 4 <= end; q += 4) {
      const T *x = b.at(q, 0), f0 = a[q * right], f1 = a[(q + 1) * right], f2 = a[(q + 2) * right], f3 = a[(q + 3) * right];
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < n; j++) c[j] += (f0 * x[j] + f1 * x[b.down + j]) + (f2 * x[2 * b.down + j] + f3 * x[3 * b.down + j]);
    }
    for (; q < end; q++) {
      const T *x = b.at(q, 0), factor = a[q * right];
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < n; j++) c[j] += factor * x[j];
    }
  }
};

// Of floating-point numbers: blocks of rows and of depth, which stay in the cache of the second level, by strips of columns, which do in the first's.
template <class T> void multiply_blocks(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k, bool increased = false) {
  constexpr int64_t deepest = Strip<T>::deepest, width = Strip<T>::width, tallest = 256;
  alignas(64) T strip[deepest * width];
  for (int64_t i = 0; i < m; i += tallest)
    for (int64_t q = 0; q < k; q += deepest) {
      const int64_t rows = std::min(tallest, m - i), depth = std::min(deepest, k - q);
      for (int64_t j = 0; j < n; j += width) {
        const int64_t columns = std::min(width, n - j);
        isa::call<Strip<T>>(Matrix<const T>{b.at(q, j), b.down, b.right}, columns, depth, strip);
        SmallMatmul<T>::run({a.at(i, q), a.down, a.right}, {strip, width}, {c.at(i, j), c.down, 1}, rows, columns, depth, increased || q > 0);
      }
    }
}

// Complex numbers as pairs of real ones: a row of a, as it lies, meets two rows for each of b's, of b and of i b. Where a's rows are not dense, it does in
// two products, of its real and of its imaginary parts.
template <class R> void multiply_complex_blocks(Matrix<const Complex<R>> a, Matrix<const Complex<R>> b, Matrix<Complex<R>> c, int64_t m, int64_t n, int64_t k, bool increased = false) {
  constexpr int64_t width = Strip<R>::width, deepest = Strip<R>::deepest / 2, tallest = 256;
  alignas(64) R strip[2 * deepest * width];
  alignas(64) Complex<R> rows_of_b[deepest * width / 2];
  const auto real = [](const Complex<R>* x) { return reinterpret_cast<const R*>(x); };
  for (int64_t i = 0; i < m; i += tallest)
    for (int64_t q = 0; q < k; q += deepest) {
      const int64_t rows = std::min(tallest, m - i), depth = std::min(deepest, k - q);
      for (int64_t j = 0; j < n; j += width / 2) {
        const int64_t columns = std::min(width / 2, n - j);
        if (b.right != 1) isa::call<Strip<Complex<R>>>(Matrix<const Complex<R>>{b.at(q, j), b.down, b.right}, columns, depth, rows_of_b);
        isa::call<PairedRows<R>, const R*, int64_t, int64_t, int64_t, R*>(b.right == 1 ? real(b.at(q, j)) : real(rows_of_b), b.right == 1 ? 2 * b.down : width, 2 * columns, depth, strip);
        const R* const from = real(a.at(i, q));
        const Matrix<R> to{reinterpret_cast<R*>(c.at(i, j)), 2 * c.down, 1};
        if (a.right == 1) SmallMatmul<R>::run({from, 2 * a.down, 1}, {strip, width}, to, rows, 2 * columns, 2 * depth, increased || q > 0);
        else
          for (int part : {0, 1}) SmallMatmul<R>::run({from + part, 2 * a.down, 2 * a.right}, {strip + part * width, 2 * width}, to, rows, 2 * columns, depth, increased || q + part > 0);
      }
    }
}

// c += a b, all with dense rows but a.
template <class T> void add_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
  if constexpr (is_complex_v<T>) multiply_complex_blocks(a, b, c, m, n, k, true);
  else if (m * n * k <= 96 * 96 * 96) SmallMatmul<T>::run(a, {b.data, b.down}, c, m, n, k, true);
  else multiply_blocks(a, b, c, m, n, k, true);
}

// Few rows or few columns: the products of a's real parts with the pairs of b, as they lie if they can, and of its imaginary parts, are joined.
template <class R> void multiply_few_complex(Matrix<const Complex<R>> a, Matrix<const Complex<R>> b, Matrix<Complex<R>> c, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t deepest = Strip<R>::deepest, width = Strip<R>::width, tallest = 32;
  alignas(64) R parts[2][tallest * width];
  alignas(64) Complex<R> strip[deepest * width / 2];
  for (int64_t i = 0; i < m; i += tallest)
    for (int64_t j = 0; j < n; j += width / 2) {
      const int64_t rows = std::min(tallest, m - i), columns = std::min(width / 2, n - j);
      for (int64_t q = 0; q < k; q += deepest) {
        const int64_t depth = std::min(deepest, k - q);
        if (b.right != 1) isa::call<Strip<Complex<R>>>(Matrix<const Complex<R>>{b.at(q, j), b.down, b.right}, columns, depth, strip);
        const EvenRows<R> pairs{reinterpret_cast<const R*>(b.right == 1 ? b.at(q, j) : strip), b.right == 1 ? 2 * b.down : width};
        for (int part : {0, 1})
          SmallMatmul<R>::run({reinterpret_cast<const R*>(a.at(i, q)) + part, 2 * a.down, 2 * a.right}, pairs, {parts[part], width, 1}, rows, 2 * columns, depth, q > 0);
      }
      isa::call<JoinPairs<R>, const R*, const R*, Matrix<R>, int64_t, int64_t>(parts[0], parts[1], {reinterpret_cast<R*>(c.at(i, j)), 2 * c.down, 1}, rows, columns);
    }
}

// c = a b. a and b have dense rows or dense columns, c dense rows; of integers b has dense rows.
template <class T> void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
  if constexpr (std::is_integral_v<T>) {
    if (n == 1 && a.down == 1 && c.down == 1) return isa::call<IntegerProduct<T>>(Matrix<const T>{b.data, 1, b.down}, Matrix<const T>{a.data, a.right, 1}, Matrix<T>{c.data, 1, c.down}, 1, m, k);
    return isa::call<IntegerProduct<T>>(a, b, c, m, n, k);
  } else {
  const bool tb = !rows_dense(b, n), ta = !rows_dense(a, k);
  if constexpr (std::is_floating_point_v<T>) {
    if (n > 1 && !tb && m * n * k <= 96 * 96 * 96) {
      constexpr int64_t deepest = 1024;   // long sums are joined of parts, which is more exact
      for (int64_t q = 0; q < k; q += deepest) SmallMatmul<T>::run({a.at(0, q), a.down, a.right}, {b.at(q, 0), b.down}, c, m, n, std::min(deepest, k - q), q > 0);
      return;
    }
    if (n > 1 && !tb && k <= 8) {   // as fast as c can be written, which goes on in a few rows at a time
      for (int64_t i = 0; i < m; i += 8) SmallMatmul<T>::run({a.at(i, 0), a.down, a.right}, {b.data, b.down}, {c.at(i, 0), c.down, c.right}, std::min<int64_t>(8, m - i), n, k, false);
      return;
    }
    if (m * n * k <= 96 * 96 * 96 && k <= 1024) {   // a vector and a matrix, or two: BLAS takes longer to be called; it joins long sums of parts
      if (n == 1 && ta && c.down == 1) return SmallMatmul<T>::run({b.data, 0, b.down}, {a.data, a.right}, {c.data, 0, 1}, 1, m, k, false);
      if (n == 1 && k < 16) return SmallMatmul<T>::run({a.data, a.down, a.right}, {b.data, b.down}, c, m, 1, k, false);
      if (n == 1 && !ta && b.down == 1) return isa::call<RowProducts<T>>(b.data, int64_t{0}, int64_t{1}, a.data, a.down, m, Matrix<T>{c.data, 0, c.down}, k);
      if (m == 1 && tb && a.right == 1) return isa::call<RowProducts<T>>(a.data, int64_t{0}, int64_t{1}, b.data, b.right, n, c, k);
    }
    if (tb && !ta && m > 1 && n > 1 && std::min(m, n) < 8 && k >= 32 && ((n < 8 && m < 16) || std::max(m, n) * k > (1 << 17))) {
      if (m <= n) isa::call<RowProducts<T>>(a.data, a.down, m, b.data, b.right, n, c, k);
      else isa::call<RowProducts<T>>(b.data, b.right, n, a.data, a.down, m, Matrix<T>{c.data, c.right, c.down}, k);
      return;
    }
    // Of dense columns, which are broadcast from lines far apart, no more than a cache holds.
    if (m >= 4 && n >= 2 && (!ta || (isa::level >= isa::avx512 && m * k <= (1 << 17)))) return multiply_blocks(a, b, c, m, n, k);
  }
  if constexpr (is_complex_v<T>) {
    if (std::min(m, n) < 6 && n > 1 && k >= 8 && m * n * k <= 48 * 48 * 48) return multiply_few_complex(a, b, c, m, n, k);
    if (m >= 6 && n >= 6 && k >= 2 && (!ta || m * k <= (1 << 16))) return multiply_complex_blocks(a, b, c, m, n, k);
  }
  if (n == 1) return ta ? blas::gemv(true, k, m, a.data, a.right, b.data, b.down, c.data, c.down) : blas::gemv(false, m, k, a.data, a.down, b.data, b.down, c.data, c.down);
  if (m == 1) return tb ? blas::gemv(false, n, k, b.data, b.right, a.data, a.right, c.data, 1) : blas::gemv(true, k, n, b.data, b.down, a.data, a.right, c.data, 1);
  blas::gemm(ta, tb, m, n, k, a.data, ta ? a.right : a.down, b.data, tb ? b.right : b.down, c.data, c.down);
  }
}

}  // namespace adjoint::cpu
