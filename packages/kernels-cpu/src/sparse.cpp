// Products with a list of values, each at a row and a column. By a dense matrix: a run of values in one row is summed in registers,
// some columns of the result at a time; values of a row that come in several runs are added in their order.
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cstring>

#include "dot.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 1 << 16;   // products
constexpr int64_t ahead = 4;         // values whose slices are fetched before they are needed

template <class T> struct Lists {
  const T* values;
  const int64_t *rows, *columns;
};

template <class T> struct Runs {
  // K columns of y, of m, that begin at y and x.
  template <int K> [[gnu::always_inline]] static inline void chunk(const Lists<T>& a, int64_t begin, int64_t end, const T* x, T* y, int64_t m) {
    for (int64_t i = begin; i < end;) {
      const int64_t row = a.rows[i];
      T sums[K];
      for (int j = 0; j < K; j++) sums[j] = y[row * m + j];
      do {
        const T v = a.values[i];
        if (i + ahead < end)
          for (int j = 0; j < K; j += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(x + a.columns[i + ahead] * m + j);
        const T* at = x + a.columns[i] * m;
        for (int j = 0; j < K; j++) sums[j] += v * at[j];
      } while (++i < end && a.rows[i] == row);
      for (int j = 0; j < K; j++) y[row * m + j] = sums[j];
    }
  }
  template <int W> [[gnu::always_inline]] static inline void run(const Lists<T>* a, int64_t begin, int64_t end, const T* x, T* y, int64_t m, int64_t columns) {
    constexpr int vector = W / static_cast<int>(sizeof(T));
    int64_t j = 0;
    for (; j + 8 * vector <= columns; j += 8 * vector) chunk<8 * vector>(*a, begin, end, x + j, y + j, m);
    for (; j + 4 * vector <= columns; j += 4 * vector) chunk<4 * vector>(*a, begin, end, x + j, y + j, m);
    for (; j + vector <= columns; j += vector) chunk<vector>(*a, begin, end, x + j, y + j, m);
    for (; j + 4 <= columns; j += 4) chunk<4>(*a, begin, end, x + j, y + j, m);
    for (; j < columns; j++) chunk<1>(*a, begin, end, x + j, y + j, m);
  }
};

// Threads share the values of sorted rows, else the columns of the result.
template <class T> void multiply(const Lists<T>& a, int64_t n, const T* x, T* y, int64_t m) {
  const auto part = [&](int64_t begin, int64_t end, int64_t first, int64_t columns) {
    isa::call<Runs<T>, const Lists<T>*, int64_t, int64_t, const T*, T*, int64_t, int64_t>(&a, begin, end, x + first, y + first, m, columns);
  };
  if (n * m < 2 * grain) return part(0, n, 0, m);
  if (!std::is_sorted(a.rows, a.rows + n)) {
    const int64_t width = std::max<int64_t>(16, (grain + n - 1) / n);
    return pool::parallel_for(m, width, [&](int64_t first, int64_t last) { part(0, n, first, last - first); });
  }
  const auto row_begin = [&](int64_t i) {   // the first value of the row in which value i - 1 does not lie
    while (i > 0 && i < n && a.rows[i] == a.rows[i - 1]) i++;
    return i;
  };
  pool::parallel_for(n, std::max<int64_t>(1, grain / m), [&](int64_t begin, int64_t end) { part(row_begin(begin), row_begin(end), 0, m); });
}

// The list's share of a dense product.
template <class T> struct Samples {
  template <int W> [[gnu::always_inline]] static inline void run(const Lists<T>* a, int64_t begin, int64_t end, const T* x, T* y, int64_t m) {
    for (int64_t i = begin; i < end; i++) y[i] = dot_row(a->values + a->rows[i] * m, x + a->columns[i] * m, m);
  }
};

bool inside(const View& positions, int64_t n) {
  bool all = true;
  for (int64_t i = 0; i < positions.numel; i++) all &= static_cast<uint64_t>(positions.as<int64_t>()[i]) < static_cast<uint64_t>(n);
  return all;
}

template <class T> void run_samples(const Launch& l) {
  const Contiguous a(l.x[0]), b(l.x[1]), rows(l.x[2]), columns(l.x[3]);
  const int64_t m = a.view().sizes[1];
  if (!inside(rows.view(), a.view().sizes[0]) || !inside(columns.view(), b.view().sizes[0])) return reference(l);
  const Lists<T> lists{a.as<const T>(), rows.as<const int64_t>(), columns.as<const int64_t>()};
  pool::parallel_for(rows.view().numel, std::max<int64_t>(1, grain / (m + 1)), [&](int64_t begin, int64_t end) {
    isa::call<Samples<T>, const Lists<T>*, int64_t, int64_t, const T*, T*, int64_t>(&lists, begin, end, b.as<const T>(), l.y[0].as<T>(), m);
  });
}
void samples_kernel(const Launch& l) {
  if (!l.y[0].contiguous() || l.y[0].numel == 0) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32: return run_samples<float>(l);
    case DType::float64: return run_samples<double>(l);
    default: return reference(l);
  }
}

template <class T> void run_product(const Launch& l) {
  const View& y = l.y[0];
  const Contiguous values(l.x[0]), rows(l.x[1]), columns(l.x[2]), dense(l.x[3]);
  if (!inside(rows.view(), y.sizes[0]) || !inside(columns.view(), dense.view().sizes[0])) return reference(l);
  std::memset(y.data, 0, static_cast<size_t>(y.numel) * sizeof(T));
  multiply<T>({values.as<const T>(), rows.as<const int64_t>(), columns.as<const int64_t>()}, values.view().numel, dense.as<const T>(), y.as<T>(), y.sizes[1]);
}
void product_kernel(const Launch& l) {
  if (!l.y[0].contiguous() || l.y[0].numel == 0) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32: return run_product<float>(l);
    case DType::float64: return run_product<double>(l);
    default: return reference(l);
  }
}

constexpr Entry entries[] = {{"sampled_matmul", samples_kernel}, {"sparse_matmul", product_kernel}};

}  // namespace

Entries sparse_kernels() { return entries; }

}  // namespace adjoint::cpu
