// LU with partial pivoting, recursively by halves of the columns (S. Toledo, Locality of reference in LU decomposition with partial pivoting, 1997):
// a few columns are factored one by one, in memory of their own; the rest is triangles and products.
#include "lu.h"

#include <algorithm>
#include <limits>

#include "matmul.h"
#include "matrices.h"
#include "triangle.h"

namespace adjoint::cpu {

namespace {

// n columns of m rows, of complex numbers first the real parts of each column and then the imaginary ones.
template <class T> struct Panel {
  using R = real_t<T>;
  using Bits = std::conditional_t<sizeof(R) == 4, int32_t, int64_t>;
  static constexpr int64_t parts = is_complex_v<T> ? 2 : 1;

  template <int W> [[gnu::always_inline]] static inline void run(R* x, int64_t m, int64_t n, int32_t* pivots, int* info) {
    for (int64_t j = 0; j < n && j < m; j++) {
      R* const column = x + j * parts * m;
      const int64_t q = largest(column, j, m);
      pivots[j] = static_cast<int32_t>(q + 1);
      if (q != j)
        for (int64_t c = 0; c < n * parts; c++) {
          const R held = x[c * m + j];
          x[c * m + j] = x[c * m + q], x[c * m + q] = held;
        }
      if (size_of(column, j, m) == 0) {
        if (*info == 0) *info = static_cast<int>(j + 1);
        continue;
      }
      divide(column, j, m);
      for (int64_t c = j + 1; c < n; c++) subtract(x + c * parts * m, column, j, m);
    }
  }

 private:
  // As bits: those of numbers that are not negative are in their order; NaN, of which there are many, is one behind all others.
  [[gnu::always_inline]] static inline Bits size_of(const R* column, int64_t r, int64_t m) {
    R size;
    if constexpr (parts == 2) size = pivot_size(T(column[r], column[m + r]));
    else size = pivot_size(column[r]);
    Bits bits;
    __builtin_memcpy(&bits, &size, sizeof(R));
    return size == size ? bits & std::numeric_limits<Bits>::max() : std::numeric_limits<Bits>::max();
  }
  // The first of the largest from row j on.
  [[gnu::always_inline]] static inline int64_t largest(const R* column, int64_t j, int64_t m) {
    constexpr int64_t step = 32;
    Bits best = 0;
    for (int64_t r = j; r < m; r++) best = size_of(column, r, m) > best ? size_of(column, r, m) : best;
    int64_t r = j;
    for (; r + step <= m; r += step) {
      Bits hits = 0;
      for (int64_t i = 0; i < step; i++) hits += size_of(column, r + i, m) == best ? 1 : 0;
      if (hits) break;
    }
    while (size_of(column, r, m) != best) r++;
    return r;
  }
  [[gnu::always_inline]] static inline void divide(R* column, int64_t j, int64_t m) {
    if constexpr (parts == 1) {
      const R pivot = column[j];
      for (int64_t r = j + 1; r < m; r++) column[r] /= pivot;
    } else {
      const T pivot(column[j], column[m + j]);
      if (pivot_size(pivot) < 4 * std::numeric_limits<R>::min()) {   // whose reciprocal may be infinite
        for (int64_t r = j + 1; r < m; r++) {
          const T q = T(column[r], column[m + r]) / pivot;
          column[r] = q.re, column[m + r] = q.im;
        }
        return;
      }
      const T reciprocal = T(1) / pivot;
      for (int64_t r = j + 1; r < m; r++) {
        const R re = column[r], im = column[m + r];
        column[r] = re * reciprocal.re - im * reciprocal.im, column[m + r] = re * reciprocal.im + im * reciprocal.re;
      }
    }
  }
  [[gnu::always_inline]] static inline void subtract(R* y, const R* x, int64_t j, int64_t m) {
    const R f = y[j];
    if constexpr (parts == 1) {
      ADJOINT_INDEPENDENT
      for (int64_t r = j + 1; r < m; r++) y[r] -= f * x[r];
    } else {
      const R g = y[m + j];
      ADJOINT_INDEPENDENT
      for (int64_t r = j + 1; r < m; r++) {
        y[r] -= f * x[r] - g * x[m + r];
        y[m + r] -= f * x[m + r] + g * x[r];
      }
    }
  }
};

template <class T> int factor_panel(Matrix<T> a, int64_t m, int64_t n, int32_t* pivots) {
  using R = real_t<T>;
  const Scratch<R> x(m * n * Panel<T>::parts);
  int info = 0;
  const auto factor = [&] { isa::call<Panel<T>, R*, int64_t, int64_t, int32_t*, int*>(x, m, n, pivots, &info); };
  if constexpr (is_complex_v<T>) {
    const auto each = [&](auto&& f) {
      for (int64_t c = 0; c < n; c++)
        for (int64_t r = 0; r < m; r++) f(*a.at(r, c), x + 2 * c * m + r);
    };
    each([&](const T& v, R* to) { to[0] = v.re, to[m] = v.im; });
    factor();
    each([&](T& v, const R* from) { v = T(from[0], from[m]); });
  } else {
    const int64_t sizes[] = {n, m}, strides[] = {a.right, a.down}, own[] = {m, 1};
    const View lies{reinterpret_cast<char*>(a.data), sizes, strides, 2, dtype_of<T>(), m * n}, here{reinterpret_cast<char*>(static_cast<R*>(x)), sizes, own, 2, dtype_of<T>(), m * n};
    copy(here, lies);
    factor();
    copy(lies, here);
  }
  return info;
}

}  // namespace

template <class T> int factor_lu(Matrix<T> a, int64_t m, int64_t n, int32_t* pivots) {
  if (n <= lu_panel) return factor_panel(a, m, n, pivots);
  const int64_t half = std::min(m, (n / 2 + lu_panel - 1) / lu_panel * lu_panel), rest = n - half;
  int info = factor_lu(a, m, half, pivots);
  const Matrix<T> above = {a.at(0, half), a.down, 1}, below = {a.at(half, half), a.down, 1}, left = {a.at(half, 0), a.down, 1};
  exchange(above, rest, pivots, half);
  solve_triangle<T>({a.data, a.down, 1}, false, true, above, half, rest, true);
  if (m > half) add_product<T>({left.data, left.down, 1}, {above.data, above.down, 1}, below, m - half, rest, half);
  negate(above, half, rest);
  if (m == half) return info;
  const int more = factor_lu(below, m - half, rest, pivots + half);
  const int64_t k = std::min(m - half, rest);
  exchange(left, half, pivots + half, k);
  for (int64_t i = half; i < half + k; i++) pivots[i] += static_cast<int32_t>(half);
  return info || !more ? info : more + static_cast<int>(half);
}
template <class T> void solve_lu(Matrix<const T> factors, const int32_t* pivots, Matrix<T> x, int64_t n, int64_t k) {
  exchange(x, k, pivots, n);
  solve_triangle(factors, false, true, x, n, k);
  solve_triangle(factors, true, false, x, n, k);
}

template int factor_lu(Matrix<float>, int64_t, int64_t, int32_t*);
template void solve_lu(Matrix<const float>, const int32_t*, Matrix<float>, int64_t, int64_t);
template int factor_lu(Matrix<double>, int64_t, int64_t, int32_t*);
template void solve_lu(Matrix<const double>, const int32_t*, Matrix<double>, int64_t, int64_t);
template int factor_lu(Matrix<Complex<float>>, int64_t, int64_t, int32_t*);
template void solve_lu(Matrix<const Complex<float>>, const int32_t*, Matrix<Complex<float>>, int64_t, int64_t);
template int factor_lu(Matrix<Complex<double>>, int64_t, int64_t, int32_t*);
template void solve_lu(Matrix<const Complex<double>>, const int32_t*, Matrix<Complex<double>>, int64_t, int64_t);

}  // namespace adjoint::cpu
