// Distances between rows, in float and double: some rows against a strip of the others.
#include "distance.h"

#include <adjoint/core/distance.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "isa.h"
#include "lines.h"
#include "matmul.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 1 << 16;   // differences
constexpr int64_t strip = 128;       // rows of b, turned: a coordinate after the other, so that loops run across them
constexpr int64_t piece = 128;       // coordinates: each sum is of no more, and sums of pieces are added then

struct Call { int64_t n, rows, count, width, y_step; bool begun, last; };

// Some rows of a, one every n elements, against `width` rows of b: what `count` differences count is summed, beside what y has of other pieces.
template <class T, int power> struct AgainstStrip {
  static constexpr bool narrow = power == 0;   // gcc 12 compares wider vectors element by element
  template <int W> [[gnu::always_inline]] static inline void run(const Call* c, const T* a, const T* turned, T* y) {
    constexpr int together = 4;
    int64_t r = 0;
    for (; r + together <= c->rows; r += together) rows_of<W, together>(*c, a + r * c->n, turned, y + r * c->y_step);
    for (; r < c->rows; r++) rows_of<W, 1>(*c, a + r * c->n, turned, y + r * c->y_step);
  }

 private:
  template <class V, int W> [[gnu::always_inline]] static inline V part(V d) {
    typedef std::conditional_t<sizeof(T) == 4, int32_t, int64_t> Word;
    typedef Word Words __attribute__((vector_size(W)));
    if constexpr (power == 2) return d * d;
    else if constexpr (power == 1) return (V)((Words)d & (Words{} + std::numeric_limits<Word>::max()));
    else return (V)(((d != 0) & (Words{} + std::bit_cast<Word>(T(1)))) | ((d != d) & (Words{} + std::bit_cast<Word>(std::numeric_limits<T>::quiet_NaN()))));
  }
  template <int W, int rows> [[gnu::always_inline]] static inline void rows_of(const Call& c, const T* a, const T* turned, T* y) {
    constexpr int64_t lanes = W / static_cast<int>(sizeof(T));
    int64_t j = 0;
    for (; j + lanes < c.width; j += 2 * lanes) square<W, rows, 2>(c, a, turned + j, y + j, c.width - j);
    if (j < c.width) square<W, rows, 1>(c, a, turned + j, y + j, c.width - j);
  }
  template <int W, int rows, int columns> [[gnu::always_inline]] static inline void square(const Call& c, const T* a, const T* turned, T* y, int64_t width) {
    typedef T V __attribute__((vector_size(W)));
    constexpr int64_t lanes = W / static_cast<int>(sizeof(T));
    V sums[rows][columns] = {};
    for (int64_t i = 0; i < c.count; i++) {
      V b[columns];
      std::memcpy(b, turned + i * strip, sizeof b);
      for (int r = 0; r < rows; r++)
        for (int k = 0; k < columns; k++) sums[r][k] += part<V, W>(a[r * c.n + i] - b[k]);
    }
    for (int r = 0; r < rows; r++)
      for (int k = 0; k < columns; k++) {
        T s[lanes], *to = y + r * c.y_step + k * lanes;
        std::memcpy(s, &sums[r][k], sizeof s);
        const int64_t some = std::min(lanes, width - k * lanes);
        if (c.begun) for (int64_t e = 0; e < some; e++) s[e] += to[e];
        if (power == 2 && c.last) for (int64_t e = 0; e < lanes; e++) s[e] = std::sqrt(s[e]);
        std::memcpy(to, s, static_cast<size_t>(some) * sizeof(T));
      }
  }
};

// Rows [begin, end) of a, of the same batch, against all m rows of b.
template <class T, int power> void from_rows(const T* a, const T* b, T* y, int64_t begin, int64_t end, int64_t m, int64_t n, bool above) {
  T turned[piece * strip];
  for (int64_t first = above ? begin / strip * strip : 0; first < m; first += strip) {
    const int64_t width = std::min(strip, m - first);
    for (int64_t from = 0; from == 0 || from < n; from += piece) {
      const int64_t count = std::min(piece, n - from);
      for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < width; j++) turned[i * strip + j] = b[(first + j) * n + from + i];
        std::fill(turned + i * strip + width, turned + i * strip + std::min(strip, width + 32), T(0));   // whole vectors are read
      }
      const Call c{n, end - begin, count, width, m, from > 0, from + count == n};
      isa::call<AgainstStrip<T, power>, const Call*, const T*, const T*, T*>(&c, a + begin * n + from, turned, y + begin * m + first);
    }
  }
  for (int64_t r = begin; above && r < end; r++) std::fill_n(y + r * m, std::min(m, r + 1), T(0));
}

// Row a, and rows [first, last) of b, along their n coordinates. Sums of 1024 are joined in double.
template <class T, int power> struct AlongRows {
  template <int W> [[gnu::always_inline]] static inline void run(const T* a, const T* b, T* y, int64_t first, int64_t last, int64_t n) {
    constexpr int64_t lanes = 64;
    for (int64_t j = first; j < last; j++) {
      const T* row = b + j * n;
      double total = 0;
      for (int64_t i = 0; i < n;) {
        const int64_t end = std::min(n, i + 1024);
        T sums[lanes] = {};
        for (; i + lanes <= end; i += lanes)
          for (int64_t k = 0; k < lanes; k++) sums[k] += part(a[i + k] - row[i + k]);
        for (int64_t k = 0; i < end; i++, k++) sums[k] += part(a[i] - row[i]);
        for (int64_t half = lanes / 2; half; half /= 2)
          for (int64_t k = 0; k < half; k++) sums[k] += sums[k + half];
        total += static_cast<double>(sums[0]);
      }
      y[j] = static_cast<T>(power == 2 ? std::sqrt(total) : total);
    }
  }

 private:
  [[gnu::always_inline]] static inline T part(T d) { return power == 2 ? d * d : power == 1 ? std::abs(d) : d != d ? d : d != 0 ? T(1) : T(0); }
};
// Where few rows would share what is turned, or be beside each other in a vector.
bool goes_along(int64_t n, int64_t m, int64_t d) { return d >= 64 && (n < 32 || m < 16); }
template <class T, int power> void along_rows(const T* a, const T* b, T* y, int64_t begin, int64_t end, int64_t m, int64_t n, bool above) {
  for (int64_t r = begin; r < end; r++) {
    const int64_t first = above ? std::min(m, r + 1) : 0;
    std::fill_n(y + r * m, first, T(0));
    isa::call<AlongRows<T, power>, const T*, const T*, T*, int64_t, int64_t, int64_t>(a + r * n, b, y + r * m, first, m, n);
  }
}

// y to max(y, 0)^(1/2).
template <class T> struct Roots {
  template <int W> [[gnu::always_inline]] static inline void run(T* y, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] = y[i] <= 0 ? T(0) : std::sqrt(y[i]);
  }
};

// What all rows have in common: distances do not depend on it, what cancels does. No element is farther from zero than it was by more than itself: a mean
// would be moved by one row that is far from the others, and they would lose their digits.
template <class T> void centre_of(const T* b, int64_t m, int64_t n, T* centre) {
  const Buffer memory(2 * n * static_cast<int64_t>(sizeof(T)));
  T *const low = memory.as<T>(), *const high = low + n;
  std::fill_n(low, n, std::numeric_limits<T>::max()), std::fill_n(high, n, std::numeric_limits<T>::lowest());
  for (int64_t j = 0; j < m; j++)
    for (int64_t i = 0; i < n; i++) {
      const T x = b[j * n + i];
      low[i] = x < low[i] ? x : low[i], high[i] = x > high[i] ? x : high[i];
    }
  for (int64_t i = 0; i < n; i++) {
    const T c = low[i] > 0 ? low[i] : high[i] < 0 ? high[i] : T(0);
    centre[i] = std::abs(c) < std::numeric_limits<T>::max() ? c : T(0);
  }
}
// Rows (f x, |x|^2, 1) or, with f = 1, (x, 1, |x|^2) of rows less their centre: their products are |a|^2 - 2 a b + |b|^2.
template <class T> void lengthen(const T* x, const T* centre, int64_t rows, int64_t n, T factor, T* to) {
  for (int64_t r = 0; r < rows; r++, x += n, to += n + 2) {
    T square = 0;
    for (int64_t i = 0; i < n; i++) {
      const T d = x[i] - centre[i];
      square += d * d;
      to[i] = factor * d;
    }
    to[n] = factor == 1 ? T(1) : square;
    to[n + 1] = factor == 1 ? square : T(1);
  }
}
// n and m rows of d coordinates.
template <class T> void by_products(const T* a, const T* b, T* y, int64_t n, int64_t m, int64_t d) {
  constexpr int64_t some = 128;   // rows of a
  const int64_t longer = d + 2, blocks = (n + some - 1) / some, size = sizeof(T);
  const Buffer memory((d + m * longer) * size);
  T *const centre = memory.as<T>(), *const right = centre + d;
  centre_of(b, m, d, centre);
  lengthen(b, centre, m, d, T(1), right);
  pool::parallel(blocks, [&](int64_t block) {
    const int64_t first = block * some, rows = std::min(some, n - first);
    const Buffer left(rows * longer * size);
    lengthen(a + first * d, centre, rows, d, T(-2), left.as<T>());
    multiply<T>({left.as<const T>(), longer, 1}, {right, 1, longer}, {y + first * m, m, 1}, rows, m, longer);
    isa::call<Roots<T>, T*, int64_t>(y + first * m, rows * m);
  });
}
auto by_power(int power, auto two, auto one, auto zero) { return power == 2 ? two : power == 1 ? one : zero; }
// Products win where many coordinates meet many rows.
bool wins(const Distances& a, int64_t n, int64_t m, int64_t d) { return a.products && a.power == 2 && d > 16 && std::min(n, m) >= 16; }

}  // namespace

void distances_kernel(const Launch& l) {
  if (!is_floating(l.y[0].dtype) || l.y[0].numel == 0) return reference(l);
  const Distances& attrs = l.attrs.as<Distances>();
  const int ndim = l.x[0].ndim;
  const int64_t d = l.x[0].sizes[ndim - 1], n = l.x[0].sizes[ndim - 2], m = l.x[1].sizes[ndim - 2];
  const int64_t rows = std::max<int64_t>(64, grain / (m * d + 1));   // at a time: as many share what is turned
  with_dense(l.x[0], l.y[0], [&](const View& a, const View& y) {
    const Contiguous b(l.x[1], a.dtype);
    with_real(a.dtype, [&](auto zero) {
      using T = decltype(zero);
      const T *const left = a.as<const T>(), *const right = b.as<const T>();
      if (wins(attrs, n, m, d)) {
        for (int64_t batch = 0; batch < y.numel / (n * m); batch++) by_products(left + batch * n * d, right + batch * m * d, y.as<T>() + batch * n * m, n, m, d);
        return;
      }
      pool::parallel_for(y.numel / m, rows, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end;) {
          const int64_t batch = r / n, last = std::min(end, (batch + 1) * n);
          const auto rows_of = goes_along(n, m, d) ? by_power(attrs.power, along_rows<T, 2>, along_rows<T, 1>, along_rows<T, 0>)
                                                   : by_power(attrs.power, from_rows<T, 2>, from_rows<T, 1>, from_rows<T, 0>);
          rows_of(left + batch * n * d, right + batch * m * d, y.as<T>() + batch * n * m, r - batch * n, last - batch * n, m, d, attrs.above);
          r = last;
        }
      });
    });
  });
}

}  // namespace adjoint::cpu
