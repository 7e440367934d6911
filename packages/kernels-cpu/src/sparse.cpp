// Products with a list of values, each at a row and a column. By a dense matrix: rows are weighed sums of its rows, in the list's order.
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cstring>

#include "dot.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"
#include "row_sums.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 1 << 16;   // products

template <class T> struct Lists {
  const T* values;
  const int64_t *rows, *columns;
};

// Few columns: each run of values in one row is summed in a register.
template <class T> void multiply_narrow(const Lists<T>& a, int64_t begin, int64_t last, const T* x, T* y, int64_t m) {
  for (int64_t i = begin, end = begin; i < last; i = end) {
    while (end < last && a.rows[end] == a.rows[i]) end++;
    for (int64_t j = 0; j < m; j++) {
      T sum = y[a.rows[i] * m + j];
      for (int64_t k = i; k < end; k++) sum += a.values[k] * x[a.columns[k] * m + j];
      y[a.rows[i] * m + j] = sum;
    }
  }
}

template <class T> void multiply(const Lists<T>& a, int64_t n, int64_t rows, const T* x, T* y, int64_t m) {
  const bool sorted = std::is_sorted(a.rows, a.rows + n);
  if (m < 8) {
    std::memset(y, 0, static_cast<size_t>(rows * m) * sizeof(T));
    const auto row_begin = [&](int64_t i) {   // the first value of the row in which value i - 1 does not lie
      while (i > 0 && i < n && a.rows[i] == a.rows[i - 1]) i++;
      return i;
    };
    return pool::parallel_for(n, sorted ? std::max<int64_t>(1, grain / std::max<int64_t>(1, m)) : n, [&](int64_t begin, int64_t end) { multiply_narrow(a, row_begin(begin), row_begin(end), x, y, m); });
  }
  if (sorted) return row_sums<T>({a.values, a.columns, bounds_of_rows(a.rows, n, rows).data()}, rows, x, y, m);
  const ByRows<T> by_rows(a.rows, a.columns, a.values, n, rows);
  row_sums<T>(by_rows.items(), rows, x, y, m);
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
  multiply<T>({values.as<const T>(), rows.as<const int64_t>(), columns.as<const int64_t>()}, values.view().numel, y.sizes[0], dense.as<const T>(), y.as<T>(), y.sizes[1]);
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
