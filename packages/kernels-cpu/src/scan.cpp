// Running sums, products and extremes along one dimension. Elements are joined in vectors, with one carry from each to the next.
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "compilers.h"
#include "complex_scans.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed to functions that are inlined

namespace adjoint::cpu {

namespace {

constexpr int64_t block = 32768;  // elements of a row that are scanned at a time
constexpr int64_t strip = 512;    // columns

struct Sum {
  static constexpr int identity = 0;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) { return a + b; }
};
struct Product {
  static constexpr int identity = 1;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) { return a * b; }
};

// What T is joined in.
template <class T> using Accumulated = std::conditional_t<std::is_same_v<T, float>, double, T>;

// Elements are of `parts` numbers, each with a state of its own: complex sums are two.
template <class O, bool reverse, class T, int parts> struct ScanRow {
  static constexpr bool narrow = parts > 1;
  using A = Accumulated<T>;
  // Rows of n numbers from the identity on; or one from `carry` on, which is left behind the last element. y null: only the carry.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, int64_t n, int64_t rows, A* carry) {
    for (int64_t r = 0; r < rows; r++) {
      A state[parts];
      for (int j = 0; j < parts; j++) state[j] = carry ? carry[j] : A(O::identity);
      if (n < W / 8) rest(x + r * n, y ? y + r * n : nullptr, 0, n, state);
      else row<W>(x + r * n, y ? y + r * n : nullptr, n, state);
      for (int j = 0; carry && j < parts; j++) carry[j] = state[j];
    }
  }

 private:
  template <int W> [[gnu::always_inline]] static inline void row(const T* x, T* y, int64_t n, A* carry) {
    constexpr int lanes = W / 8;
    typedef A Vector __attribute__((vector_size(W), aligned(alignof(A)), may_alias));
    typedef std::enable_if_t<(W > 0), int64_t> Lanes __attribute__((vector_size(W)));
    Lanes number, last{};
    for (int j = 0; j < lanes; j++) number[j] = j, last[j] = lanes - parts + j % parts;
    Vector identity{}, before;
    for (int j = 0; j < lanes; j++) identity[j] = O::identity, before[j] = carry[j % parts];
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      T in[lanes], out[lanes];
      __builtin_memcpy(in, x + (reverse ? n - lanes - i : i), sizeof in);
      Vector v;
      for (int j = 0; j < lanes; j++) v[j] = static_cast<A>(in[position(j, lanes)]);
#pragma GCC unroll 3
      for (int step = parts; step < lanes; step *= 2) v = O::join(v, shuffle(identity, v, number + (lanes - step)));
      v = O::join(before, v);
      before = shuffle(v, v, last);
      if (!y) continue;
      for (int j = 0; j < lanes; j++) out[position(j, lanes)] = static_cast<T>(v[j]);
      __builtin_memcpy(y + (reverse ? n - lanes - i : i), out, sizeof out);
    }
    for (int j = 0; j < parts; j++) carry[j] = before[j];
    rest(x, y, i, n, carry);
  }
  // From element i on.
  [[gnu::always_inline]] static inline void rest(const T* x, T* y, int64_t i, int64_t n, A* carry) {
    for (; i < n; i++) {
      const int64_t at = position(i, n);
      A& state = carry[i % parts];
      state = O::join(state, static_cast<A>(x[at]));
      if (y) y[at] = static_cast<T>(state);
    }
  }
  [[gnu::always_inline]] static inline int64_t position(int64_t j, int64_t n) { return reverse ? n - parts - j + 2 * (j % parts) : j; }
};

template <class O, bool reverse, class T> struct ScanColumns {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, int64_t n, int64_t down, int64_t width) {
    Accumulated<T> state[strip];
    for (int64_t j = 0; j < width; j++) state[j] = O::identity;
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = (reverse ? n - 1 - i : i) * down;
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        state[j] = O::join(state[j], static_cast<Accumulated<T>>(x[at + j]));
        y[at + j] = static_cast<T>(state[j]);
      }
    }
  }
};

// A long row: the joins of its blocks first, then each block from what stands before it.
template <class O, bool reverse, class T, int parts> void scan_long(const T* x, T* y, int64_t n) {
  using A = Accumulated<T>;
  const int64_t blocks = (n + block - 1) / block;
  const Buffer memory(blocks * parts * static_cast<int64_t>(sizeof(A)));
  A* carry = memory.as<A>();
  auto scan = [&](int64_t b, T* to) {
    const int64_t begin = reverse ? std::max<int64_t>(0, n - (b + 1) * block) : b * block, end = reverse ? n - b * block : std::min(n, begin + block);
    isa::call<ScanRow<O, reverse, T, parts>>(x + begin, to ? to + begin : nullptr, end - begin, int64_t{1}, carry + b * parts);
  };
  std::fill_n(carry, blocks * parts, A(O::identity));
  pool::parallel(blocks, [&](int64_t b) { scan(b, nullptr); });
  for (int j = 0; j < parts; j++) {
    A before = O::identity;
    for (int64_t b = 0; b < blocks; b++) before = O::join(before, std::exchange(carry[b * parts + j], before));
  }
  pool::parallel(blocks, [&](int64_t b) { scan(b, y); });
}

template <class O, bool reverse, class T, int parts> void scan(const Lines& l, const T* x, T* y) {
  if (l.inner > 1) {
    const int64_t strips = (l.inner + strip - 1) / strip;
    return pool::parallel_for(l.outer * strips, std::max<int64_t>(1, block / (l.n * std::min(l.inner, strip))), [&](int64_t first, int64_t last) {
      for (int64_t u = first; u < last; u++) {
        const int64_t column = u % strips * strip, at = u / strips * l.n * l.inner + column;
        isa::call<ScanColumns<O, reverse, T>>(x + at, y + at, l.n, l.inner, std::min(strip, l.inner - column));
      }
    });
  }
  if (l.n > 4 * block) {
    for (int64_t r = 0; r < l.outer; r++) scan_long<O, reverse, T, parts>(x + r * l.n, y + r * l.n, l.n);
    return;
  }
  pool::parallel_for(l.outer, std::max<int64_t>(1, block / l.n), [&](int64_t first, int64_t last) {
    isa::call<ScanRow<O, reverse, T, parts>, const T*, T*, int64_t, int64_t, Accumulated<T>*>(x + first * l.n, y + first * l.n, l.n, last - first, nullptr);
  });
}

template <class O> void kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  const DType type = widened(x.dtype);
  const bool pairs = type == DType::complex64 && std::is_same_v<O, Sum>;
  if (std::is_same_v<O, Product> && scan_complex(l, false)) return;
  if (x.numel == 0 || !(is_floating(type) || type == DType::int64 || pairs)) return reference(l);
  const Scan& a = l.attrs.as<Scan>();
  Lines lines(x, a.dim);
  const Contiguous in(x, type);
  const Buffer memory(type == y.dtype ? 1 : y.numel * itemsize(type));
  auto typed = [&]<int parts>(auto zero, std::integral_constant<int, parts>) {
    using T = decltype(zero);
    (lines.inner > 1 ? lines.inner : lines.n) *= parts;
    T* out = type == y.dtype ? y.as<T>() : memory.as<T>();
    if (a.reverse) scan<O, true, T, parts>(lines, in.as<const T>(), out);
    else scan<O, false, T, parts>(lines, in.as<const T>(), out);
  };
  constexpr std::integral_constant<int, 1> one;
  if constexpr (std::is_same_v<O, Sum>)
    if (pairs) return typed(0.f, std::integral_constant<int, 2>{});
  if (type == DType::float32) typed(0.f, one);
  else if (type == DType::float64) typed(0., one);
  else typed(int64_t{}, one);
  if (type != y.dtype) cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel});
}

// ---- log(sum(exp(x))), in double: the largest element so far, and the sum of exponentials relative to it

// What multiplies the smaller of the sum before v and e^v.
[[gnu::always_inline]] inline double log_sum_ratio(double largest, double v) {
  const double distance = largest - v, e = math::exp(distance > 0 ? -distance : distance), r = v == largest ? 1 : e;
  return v == -math::infinity<double> ? 0 : r;
}
[[gnu::always_inline]] inline double log_sum_add(double sum, double largest, double v, double ratio) { return v > largest ? sum * ratio + 1 : sum + ratio; }
[[gnu::always_inline]] inline double log_of_sum(double largest, double sum) {
  const double y = sum == 0 ? largest : largest + math::detail::log_positive(sum);
  return sum != sum ? sum : y;   // of which log_positive knows nothing
}

// Elements of a row depend on each other by a maximum and a sum alone: the rest runs in vectors. state: the two before x.
struct LogSumRow {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(double* x, int64_t n, double* state) {
    double largest[strip + 1], ratio[strip];
    largest[0] = state[0];
    for (int64_t i = 0; i < n; i++) largest[i + 1] = x[i] > largest[i] ? x[i] : largest[i];
    for (int64_t i = 0; i < n; i++) ratio[i] = log_sum_ratio(largest[i], x[i]);
    double sum = state[1];
    for (int64_t i = 0; i < n; i++) ratio[i] = sum = log_sum_add(sum, largest[i], x[i], ratio[i]);
    state[0] = largest[n], state[1] = sum;
    for (int64_t i = 0; i < n; i++) x[i] = log_of_sum(largest[i + 1], ratio[i]);
  }
};
// An element of each column.
struct LogSumColumns {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(double* x, int64_t width, double* largest, double* sum) {
    ADJOINT_INDEPENDENT
    for (int64_t j = 0; j < width; j++) {
      const double v = x[j], before = largest[j], s = log_sum_add(sum[j], before, v, log_sum_ratio(before, v)), now = v > before ? v : before;
      largest[j] = now;
      sum[j] = s;
      x[j] = log_of_sum(now, s);
    }
  }
};
template <class T> void log_sums(const Lines& l, bool reverse, const T* x, T* y) {
  const int64_t strips = (l.inner + strip - 1) / strip, tall = l.inner == 1 ? strip : 1, step = reverse ? -1 : 1;   // elements of a line at a time
  pool::parallel_for(l.outer * strips, std::max<int64_t>(1, block / (16 * l.n * std::min(l.inner, strip))), [&](int64_t first, int64_t last) {
    double v[strip], largest[strip], sum[strip];
    for (int64_t u = first; u < last; u++) {
      const int64_t column = u % strips * strip, width = std::min(strip, l.inner - column), at = u / strips * l.n * l.inner + column;
      std::fill_n(largest, width, -math::infinity<double>);
      std::fill_n(sum, width, 0.);
      double state[] = {largest[0], 0};
      for (int64_t i = 0; i < l.n; i += tall) {
        const int64_t start = at + (reverse ? l.n - 1 - i : i) * l.inner, m = tall == 1 ? width : std::min(tall, l.n - i), next = tall == 1 ? 1 : step;
        for (int64_t k = 0; k < m; k++) v[k] = x[start + k * next];
        if (tall == 1) isa::call<LogSumColumns, double*, int64_t, double*, double*>(v, m, largest, sum);
        else isa::call<LogSumRow, double*, int64_t, double*>(v, m, state);
        for (int64_t k = 0; k < m; k++) y[start + k * next] = static_cast<T>(v[k]);
      }
    }
  });
}
void logcumsumexp_kernel(const Launch& l) {
  if (scan_complex(l, true)) return;
  if (l.x[0].numel == 0 || !is_floating(l.x[0].dtype)) return reference(l);
  const Scan& a = l.attrs.as<Scan>();
  with_dense(l.x[0], l.y[0], [&](const View& x, const View& y) {
    with_real(x.dtype, [&](auto zero) {
      using T = decltype(zero);
      log_sums(Lines(x, a.dim), a.reverse, x.as<const T>(), y.as<T>());
    });
  });
}

// ---- the largest or smallest element so far and where it is: of equal ones the last, from a NaN on the last NaN

template <class T, bool largest> [[gnu::always_inline]] inline bool is_next(T v, T best) { return ((largest ? v >= best : v <= best) & (best == best)) | (v != v); }

// An element of each column.
template <class T, bool largest> struct RunningColumns {
  static constexpr bool narrow = true;
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;   // as wide as the data
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t i, int64_t width, T* best, Index* where, T* y, int64_t* at) {
    ADJOINT_INDEPENDENT
    for (int64_t j = 0; j < width; j++) {
      const bool next = is_next<T, largest>(x[j], best[j]);
      y[j] = best[j] = next ? x[j] : best[j];
      where[j] = next ? static_cast<Index>(i) : where[j];
    }
    for (int64_t j = 0; j < width; j++) at[j] = where[j];
  }
};
// Few elements of a row are next ones: a branch knows.
template <class T, bool largest> void running_row(const T* x, int64_t n, T* y, int64_t* at) {
  T best = x[0];
  for (int64_t i = 0, where = 0; i < n; i++) {
    if (is_next<T, largest>(x[i], best)) best = x[i], where = i;
    y[i] = best, at[i] = where;
  }
}
template <class T, bool largest> void running(const Lines& l, const T* x, T* y, int64_t* at) {
  using Columns = RunningColumns<T, largest>;
  using Index = typename Columns::Index;
  const int64_t strips = (l.inner + strip - 1) / strip;
  pool::parallel_for(l.outer * strips, std::max<int64_t>(1, block / (l.n * std::min(l.inner, strip))), [&](int64_t first, int64_t last) {
    T best[strip];
    Index where[strip];
    for (int64_t u = first; u < last; u++) {
      const int64_t column = u % strips * strip, width = std::min(strip, l.inner - column), start = u / strips * l.n * l.inner + column;
      if (l.inner == 1) {
        running_row<T, largest>(x + start, l.n, y + start, at + start);
        continue;
      }
      std::copy_n(x + start, width, best);
      std::fill_n(where, width, Index(0));
      for (int64_t i = 0, p = start; i < l.n; i++, p += l.inner) isa::call<Columns, const T*, int64_t, int64_t, T*, Index*, T*, int64_t*>(x + p, i, width, best, where, y + p, at + p);
    }
  });
}
template <bool largest> void running_kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  const DType type = widened(x.dtype);
  const Lines lines(x, l.attrs.as<Dim>().dim);
  if (x.numel == 0 || lines.n > std::numeric_limits<int32_t>::max()) return reference(l);
  const Contiguous in(x, type);
  const Buffer memory(type == y.dtype ? 1 : y.numel * itemsize(type));
  auto typed = [&](auto zero) {
    using T = decltype(zero);
    running<T, largest>(lines, in.as<const T>(), type == y.dtype ? y.as<T>() : memory.as<T>(), l.y[1].as<int64_t>());
  };
  switch (type) {
    case DType::float32: typed(0.f); break;
    case DType::float64: typed(0.); break;
    case DType::int32: typed(int32_t{}); break;
    case DType::int64: typed(int64_t{}); break;
    default: return reference(l);
  }
  if (type != y.dtype) cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel});
}

constexpr Entry entries[] = {
    {"cummax", running_kernel<true>},
    {"cummin", running_kernel<false>},
    {"cumprod", kernel<Product>},
    {"cumsum", kernel<Sum>},
    {"logcumsumexp", logcumsumexp_kernel},
};

}  // namespace

Entries scan_kernels() { return entries; }

}  // namespace adjoint::cpu
