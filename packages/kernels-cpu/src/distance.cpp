// Euclid's distances between rows, in float and double: a row against all others, which stay in the cache.
#include "distance.h"

#include <adjoint/core/distance.h>

#include <algorithm>
#include <cmath>

#include "isa.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 1 << 16;   // differences

template <class T> struct FromRow {
  // Row a, and rows [first, last) of b, of n elements. Partial sums of 1024 squares are joined in double.
  template <int W> [[gnu::always_inline]] static inline void run(const T* a, const T* b, T* y, int64_t first, int64_t last, int64_t n) {
    constexpr int64_t lanes = 64;
    for (int64_t j = first; j < last; j++) {
      const T* row = b + j * n;
      double total = 0;
      for (int64_t i = 0; i < n;) {
        const int64_t end = std::min(n, i + 1024);
        T sums[lanes] = {};
        for (; i + lanes <= end; i += lanes)
          for (int64_t k = 0; k < lanes; k++) {
            const T d = a[i + k] - row[i + k];
            sums[k] += d * d;
          }
        for (int64_t k = 0; i < end; i++, k++) sums[k] += (a[i] - row[i]) * (a[i] - row[i]);
        for (int64_t half = lanes / 2; half; half /= 2)
          for (int64_t k = 0; k < half; k++) sums[k] += sums[k + half];
        total += static_cast<double>(sums[0]);
      }
      y[j] = static_cast<T>(std::sqrt(total));
    }
  }
};

constexpr int64_t few = 32;     // coordinates: with so many, the rows of b are turned, and loops run across them
constexpr int64_t strip = 256;  // rows of b at a time

// Row a against `width` rows of b, of which `turned` has a coordinate after the other.
template <class T> struct FromRowAcross {
  template <int W> [[gnu::always_inline]] static inline void run(const T* a, const T* turned, T* y, int64_t width, int64_t n) {
    T sums[strip];
    for (int64_t j = 0; j < width; j++) sums[j] = 0;
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < width; j++) {
        const T d = a[i] - turned[i * strip + j];
        sums[j] += d * d;
      }
    for (int64_t j = 0; j < width; j++) y[j] = std::sqrt(sums[j]);
  }
};
// Rows [begin, end) of a, of the same batch, against all m rows of b.
template <class T> void from_rows_across(const T* a, const T* b, T* y, int64_t begin, int64_t end, int64_t m, int64_t n, bool above) {
  T turned[few * strip];
  for (int64_t first = 0; first < m; first += strip) {
    const int64_t width = std::min(strip, m - first);
    for (int64_t j = 0; j < width; j++)
      for (int64_t i = 0; i < n; i++) turned[i * strip + j] = b[(first + j) * n + i];
    for (int64_t r = begin; r < end; r++) isa::call<FromRowAcross<T>, const T*, const T*>(a + r * n, turned, y + r * m + first, width, n);
  }
  for (int64_t r = begin; above && r < end; r++) std::fill_n(y + r * m, std::min(m, r + 1), T(0));
}

}  // namespace

void distances_kernel(const Launch& l) {
  if (!is_floating(l.y[0].dtype) || l.y[0].numel == 0) return reference(l);
  const bool above = l.attrs.as<Distances>().above;
  const int ndim = l.x[0].ndim;
  const int64_t d = l.x[0].sizes[ndim - 1], n = l.x[0].sizes[ndim - 2], m = l.x[1].sizes[ndim - 2];
  with_dense(l.x[0], l.y[0], [&](const View& a, const View& y) {
    const Contiguous b(l.x[1], a.dtype);
    with_real(a.dtype, [&](auto zero) {
      using T = decltype(zero);
      pool::parallel_for(y.numel / m, std::max<int64_t>(1, grain / (m * d + 1)), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; d <= few && r < end;) {
          const int64_t batch = r / n, last = std::min(end, (batch + 1) * n);
          from_rows_across(a.as<const T>() + batch * n * d, b.as<const T>() + batch * m * d, y.as<T>() + batch * n * m, r - batch * n, last - batch * n, m, d, above);
          r = last;
        }
        for (int64_t r = begin; d > few && r < end; r++) {
          const int64_t first = above ? r % n + 1 : 0;
          T* const row = y.as<T>() + r * m;
          std::fill_n(row, first, T(0));
          isa::call<FromRow<T>>(a.as<const T>() + r * d, b.as<const T>() + r / n * m * d, row, first, m, d);
        }
      });
    });
  });
}

}  // namespace adjoint::cpu
