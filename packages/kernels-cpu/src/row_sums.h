// Sums of rows of a matrix that lists name: some columns of a sum at a time stay in registers. Every sum is made in the order of its list.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa.h"
#include "pool.h"

namespace adjoint::cpu {

// Row r of the result: the sum of values[i] x[columns[i]] for i from bounds[r] to bounds[r + 1]; without values each counts 1.
template <class T> struct Items {
  const T* values;
  const int64_t *columns, *bounds;
  int64_t step = 1;   // from value to value
  static constexpr T one = 1;
  Items(const T* factors, const int64_t* x_rows, const int64_t* begins) : values(factors ? factors : &one), columns(x_rows), bounds(begins), step(factors != nullptr) {}
};

template <class T> struct RowSums {
  // K columns, which begin at x and y.
  template <int K> [[gnu::always_inline]] static inline void slice(const Items<T>& a, int64_t first, int64_t last, const T* x, T* y, int64_t m) {
    for (int64_t r = first; r < last; r++) {
      const int64_t end = a.bounds[r + 1];
      T sums[K] = {};
      for (int64_t i = a.bounds[r]; i < end; i++) {
        const T factor = a.values[i * a.step], *at = x + a.columns[i] * m;
        if (i + ahead < end)
          for (int j = 0; j < K; j += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(x + a.columns[i + ahead] * m + j);
        for (int j = 0; j < K; j++) sums[j] += factor * at[j];
      }
      for (int j = 0; j < K; j++) y[r * m + j] = sums[j];
    }
  }
  template <int W> [[gnu::always_inline]] static inline void run(const Items<T>* a, int64_t first, int64_t last, const T* x, T* y, int64_t m) {
    constexpr int vector = W / static_cast<int>(sizeof(T)), wide = W == 64 ? 16 * vector : 8 * vector;
    int64_t j = 0;
    for (; j + wide <= m; j += wide) slice<wide>(*a, first, last, x + j, y + j, m);
    for (; j + 4 * vector <= m; j += 4 * vector) slice<4 * vector>(*a, first, last, x + j, y + j, m);
    rest<vector>(*a, first, last, x, y, m, j);
  }
  // Columns from j on, in vectors as long as all that there are fill: the last may begin among columns that another has, whose sums are the same.
  template <int K> [[gnu::always_inline]] static inline void rest(const Items<T>& a, int64_t first, int64_t last, const T* x, T* y, int64_t m, int64_t j) {
    if constexpr (K > 1)
      if (m < K) return rest<K / 2>(a, first, last, x, y, m, j);
    for (; j < m; j += K) {
      const int64_t at = j + K <= m ? j : m - K;
      slice<K>(a, first, last, x + at, y + at, m);
    }
  }
  static constexpr int64_t ahead = 4;   // rows that are fetched before they are needed
};

template <class T> void row_sums(const Items<T>& a, int64_t rows, const T* x, T* y, int64_t m) {
  const int64_t n = a.bounds[rows] - a.bounds[0], cost = (n / std::max<int64_t>(1, rows) + 1) * m;   // of a row
  pool::parallel_for(rows, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, cost)), [&](int64_t first, int64_t last) {
    isa::call<RowSums<T>, const Items<T>*, int64_t, int64_t, const T*, T*, int64_t>(&a, first, last, x, y, m);
  });
}

// Where each row begins in a list that is, or will be, in the order of its rows.
inline std::vector<int64_t> bounds_of_rows(const int64_t* rows, int64_t n, int64_t count) {
  std::vector<int64_t> bounds(static_cast<size_t>(count) + 1);
  for (int64_t i = 0; i < n; i++) bounds[static_cast<size_t>(rows[i]) + 1]++;
  for (size_t r = 1; r < bounds.size(); r++) bounds[r] += bounds[r - 1];
  return bounds;
}

// A list in the order of its rows; those of one row stay in theirs.
template <class T> class ByRows {
 public:
  ByRows(const int64_t* rows, const int64_t* columns, const T* values, int64_t n, int64_t count)
      : bounds_(bounds_of_rows(rows, n, count)), columns_(static_cast<size_t>(n)), values_(values ? static_cast<size_t>(n) : 0) {
    std::vector<int64_t> next(bounds_.begin(), bounds_.end() - 1);
    for (int64_t i = 0; i < n; i++) {
      const size_t at = static_cast<size_t>(next[static_cast<size_t>(rows[i])]++);
      columns_[at] = columns[i];
      if (values) values_[at] = values[i];
    }
  }
  Items<T> items() const { return {values_.empty() ? nullptr : values_.data(), columns_.data(), bounds_.data()}; }

 private:
  std::vector<int64_t> bounds_, columns_;
  std::vector<T> values_;
};

}  // namespace adjoint::cpu
