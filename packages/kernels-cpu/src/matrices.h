// What the kernels of linear algebra share: batches of matrices on the pool, and copies in LAPACK's order.
#pragma once
#include <adjoint/core/linalg.h>

#include <algorithm>
#include <vector>

#include "copy.h"
#include "kernels.h"
#include "lapack.h"
#include "lines.h"
#include "pool.h"
#include "small_matmul.h"

namespace adjoint::cpu {

// One matrix of a batch, with strides.
template <class T> struct Item {
  const T* data;
  int64_t rows, columns, down, right;
};
template <class T> Item<T> item(const View& v, int64_t b) {
  const int64_t n = v.ndim;
  int64_t offset = 0;
  for (int64_t d = n - 2; d-- > 0; b /= v.sizes[d]) offset += b % v.sizes[d] * v.strides[d];
  return {v.as<T>() + offset, v.sizes[n - 2], v.sizes[n - 1], v.strides[n - 2], v.strides[n - 1]};
}
template <class T> Item<T> transposed(Item<T> a) { return {a.data, a.columns, a.rows, a.right, a.down}; }

// Row-major; that is the transpose by columns.
template <class T> void copy_rows(const Item<T>& a, T* out) {
  constexpr int64_t few = 256;   // elements: a loop is done sooner than a copy of views has begun
  if (a.right == 1) {
    for (int64_t i = 0; i < a.rows; i++) std::copy_n(a.data + i * a.down, a.columns, out + i * a.columns);
  } else if (a.rows * a.columns <= few || a.rows == 1) {
    for (int64_t i = 0; i < a.rows; i++)
      for (int64_t j = 0; j < a.columns; j++) out[i * a.columns + j] = a.data[i * a.down + j * a.right];
  } else {
    const int64_t sizes[] = {a.rows, a.columns}, from[] = {a.down, a.right}, to[] = {a.columns, 1}, numel = a.rows * a.columns;
    copy({reinterpret_cast<char*>(out), sizes, to, 2, dtype_of<T>(), numel}, {reinterpret_cast<char*>(const_cast<T*>(a.data)), sizes, from, 2, dtype_of<T>(), numel});
  }
}
// The matrix by columns, and from columns (rows, columns, distance of columns) to rows.
template <class T> void copy_columns(const Item<T>& a, T* out) { copy_rows(transposed(a), out); }
template <class T> void from_columns(const T* a, int64_t rows, int64_t columns, int64_t step, T* out) { copy_rows(Item<T>{a, rows, columns, 1, step}, out); }

template <class T> void conjugate(T* x, int64_t n) {
  if constexpr (is_complex_v<T>)
    for (int64_t i = 0; i < n; i++) x[i].im = -x[i].im;
}

// |re| + |im|, by which LAPACK chooses pivots; for kernel bodies too.
template <class T> [[gnu::always_inline]] inline real_t<T> pivot_size(T x) {
  if constexpr (is_complex_v<T>) return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
  else return x < 0 ? -x : x;
}

// x (n, k), of dense rows.
template <class T> void negate(Matrix<T> x, int64_t n, int64_t k) {
  using R = real_t<T>;
  for (int64_t i = 0; i < n; i++) {
    R* const row = reinterpret_cast<R*>(x.at(i, 0));
    for (int64_t j = 0; j < k * static_cast<int64_t>(sizeof(T) / sizeof(R)); j++) row[j] = -row[j];
  }
}

template <class T> class Scratch {
 public:
  explicit Scratch(int64_t n) : memory_(std::max<int64_t>(n, 1) * static_cast<int64_t>(sizeof(T))) {}
  operator T*() const { return memory_.as<T>(); }

 private:
  Buffer memory_;
};

inline int64_t batch_of(const View& v) {
  int64_t n = 1;
  for (int d = 0; d < v.ndim - 2; d++) n *= v.sizes[d];
  return n;
}

// f(tag of the element type, matrix number), many matrices at a time; f gives LAPACK's number, of which errors are made.
template <class F> std::vector<int32_t> for_matrices(const View& x, F&& f) {
  const int64_t n = std::max(x.sizes[x.ndim - 1], x.sizes[x.ndim - 2]), batch = batch_of(x);
  std::vector<int32_t> info(batch);
  with_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || is_complex_v<T>)
      pool::parallel_for(batch, std::max<int64_t>(1, (1 << 15) / (n * n * n + 1)), [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; b++) info[b] = f(tag, b);
      });
  });
  return info;
}

inline void expect_success(const Launch& l, const std::vector<int32_t>& info) { check_info(l.op, info, l.x[0].ndim > 2); }

}  // namespace adjoint::cpu
