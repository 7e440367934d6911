// Groups of small matrices, as many as a vector has lanes, between their places in a batch and the form of small_lanes.h.
#pragma once
#include <array>

#include "matrices.h"
#include "small_lanes.h"

namespace adjoint::cpu::small {

// A few matrices alone are done sooner one by one.
inline bool suits(const View& x) {
  const int64_t m = x.sizes[x.ndim - 2], n = x.sizes[x.ndim - 1];
  return runs() && (x.dtype == DType::float32 || x.dtype == DType::float64) && m * n > 0 && std::max(m, n) <= limit && batch_of(x) >= 4;
}

// f(tag of the element type, first matrix, how many), many groups at a time. Which matrices are a group depends on the batch alone.
template <class F> void for_groups(const View& x, F&& f) {
  with_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      const int64_t batch = batch_of(x), side = std::max(x.sizes[x.ndim - 1], x.sizes[x.ndim - 2]);
      pool::parallel_for((batch + lanes<T> - 1) / lanes<T>, std::max<int64_t>(1, (1 << 12) / (side * side * side)), [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; g++) f(tag, g * lanes<T>, std::min(lanes<T>, batch - g * lanes<T>));
      });
    }
  });
}

// Matrices of x, by columns; `transposed`: theirs. Lanes without a matrix repeat the last.
template <class T> void load(const View& x, int64_t first, int64_t count, T* to, bool transposed) {
  for (int64_t l = 0; l < lanes<T>; l++) {
    const Item<T> own = item<T>(x, first + std::min(l, count - 1)), a = transposed ? cpu::transposed(own) : own;
    for (int64_t j = 0; j < a.columns; j++)
      for (int64_t i = 0; i < a.rows; i++) to[(j * a.rows + i) * lanes<T> + l] = a.data[i * a.down + j * a.right];
  }
}
// The first columns of the product of k reflections, packed in a.
template <class T> void reflected_columns(int64_t m, int64_t wide, int64_t k, const T* a, const T* tau, T* q) {
  std::fill_n(q, m * wide * lanes<T>, T(0));
  for (int64_t i = 0; i < wide; i++) std::fill_n(q + i * (m + 1) * lanes<T>, lanes<T>, T(1));
  call<Reflected<T>>(m, wide, k, a, tau, q);
}
// (rows, columns) to dense matrices from y on; `transposed`: the transposes.
template <class T> void store(const T* from, int64_t rows, int64_t columns, int64_t first, int64_t count, T* y, bool transposed) {
  const int64_t down = transposed ? 1 : columns, right = transposed ? rows : 1;
  for (int64_t l = 0; l < count; l++)
    for (int64_t j = 0; j < columns; j++)
      for (int64_t i = 0; i < rows; i++) y[(first + l) * rows * columns + i * down + j * right] = from[(j * rows + i) * lanes<T> + l];
}
// The exchanges of rows, counted from 1 as LAPACK does.
template <class T> void store_exchanges(const T* exchanged, int64_t n, int64_t first, int64_t count, int32_t* pivots) {
  for (int64_t l = 0; l < count; l++)
    for (int64_t k = 0; k < n; k++) pivots[(first + l) * n + k] = static_cast<int32_t>(exchanged[k * lanes<T> + l]) + 1;
}
// Row i of an exchanged matrix is row order[i] of the given one.
using Order = std::array<int64_t, limit>;
template <class P> Order order_of(int64_t n, P&& exchanged) {
  Order order{};
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t k = 0; k < n; k++) std::swap(order[k], order[exchanged(k)]);
  return order;
}

}  // namespace adjoint::cpu::small
