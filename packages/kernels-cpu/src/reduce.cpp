// Reductions: sum, mean, extremes, variance. Blocks and the order in which their results meet depend on shape and
// strides alone.
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "copy.h"
#include "isa.h"
#include "kernels.h"
#include "pool.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed to functions that are inlined

namespace adjoint::cpu {

namespace {

constexpr int64_t block = 32768;  // elements of a row that are reduced at a time
constexpr int64_t strip = 1024;   // columns that are reduced at a time

// How two values, or two vectors of them, become one.
template <class T> struct Sum {
  static constexpr T identity = 0;
  static constexpr bool rounds = true;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) { return a + b; }
};
// NaN wins, and stays.
template <class T> struct Largest {
  static constexpr T identity = -std::numeric_limits<T>::infinity();
  static constexpr bool rounds = false;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) {
    const V r = b > a ? b : a;
    return b != b ? b : r;
  }
};
template <class T> struct Smallest {
  static constexpr T identity = std::numeric_limits<T>::infinity();
  static constexpr bool rounds = false;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) {
    const V r = b < a ? b : a;
    return b != b ? b : r;
  }
};
struct Same {
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return x; }
};
template <class T> struct SquareFrom {
  T centre;
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return (x - centre) * (x - centre); }
};

// x[0], x[step], ... x[7 step].
template <class O, class T> [[gnu::always_inline]] inline T join_eight(const T* x, int64_t step) {
  return O::join(O::join(O::join(x[0], x[step]), O::join(x[2 * step], x[3 * step])), O::join(O::join(x[4 * step], x[5 * step]), O::join(x[6 * step], x[7 * step])));
}

// The sum of a dense row, through `map`: as many lanes as fill 256 bytes on every instruction set, emptied every 32 steps,
// so that rounding errors do not pile up.
template <int W, class T, class Map> [[gnu::always_inline]] inline T sum_row(const T* x, int64_t n, Map map) {
  typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
  constexpr int vectors = 256 / W, width = W / sizeof(T), lanes = vectors * width;
  T total[lanes] = {};
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = n - i > 32 * lanes ? i + 32 * lanes : i + (n - i) / lanes * lanes;
    Vector s[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) s[v] = Vector{};
    for (; i < end; i += lanes)
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) s[v] += map(*reinterpret_cast<const Vector*>(x + i + v * width));
    T part[lanes];
    __builtin_memcpy(part, s, sizeof part);
    for (int j = 0; j < lanes; j++) total[j] += part[j];
  }
  T tail = 0;
  for (; i < n; i++) tail += map(x[i]);
  for (int w = lanes / 2; w; w /= 2)
    for (int j = 0; j < w; j++) total[j] += total[j + w];
  return total[0] + tail;
}
// Extremes do not round: the row is folded eight times 128 elements at a time.
template <class O, class T> [[gnu::always_inline]] inline T extreme_row(const T* x, int64_t n) {
  constexpr int64_t lanes = 128;
  T best[lanes];
  for (int64_t j = 0; j < lanes; j++) best[j] = O::identity;
  int64_t i = 0;
  for (; i + 8 * lanes <= n; i += 8 * lanes)
#pragma GCC ivdep
    for (int64_t j = 0; j < lanes; j++) best[j] = O::join(best[j], join_eight<O>(x + i + j, lanes));
  T r = O::identity;
  for (; i < n; i++) r = O::join(r, x[i]);
  for (int64_t j = 0; j < lanes; j++) r = O::join(r, best[j]);
  return r;
}

template <template <class> class Op, class T> struct ReduceRows {
  // Rows of n elements, `down` apart; centres: null, or one for each row, and squares of the distances are reduced.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t down, int64_t n, int64_t rows, const T* centres, T* y) {
    for (int64_t r = 0; r < rows; r++) {
      if constexpr (!Op<T>::rounds) y[r] = extreme_row<Op<T>>(x + r * down, n);
      else if (centres) y[r] = sum_row<W>(x + r * down, n, SquareFrom<T>{centres[r]});
      else y[r] = sum_row<W>(x + r * down, n, Same{});
    }
  }
};

template <template <class> class Op, class T> struct ReduceColumns {
  // y[j] = the join of x[i][j] for all rows i, eight rows at a time.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t down, int64_t rows, int64_t columns, T* y) {
    using O = Op<T>;
    for (int64_t j = 0; j < columns; j++) y[j] = O::identity;
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8) {
#pragma GCC ivdep
      for (int64_t j = 0; j < columns; j++) y[j] = O::join(y[j], join_eight<O>(x + i * down + j, down));
    }
    for (; i < rows; i++)
#pragma GCC ivdep
      for (int64_t j = 0; j < columns; j++) y[j] = O::join(y[j], x[i * down + j]);
  }
};

template <template <class> class Op, class T> T join_pairwise(const T* x, int64_t n) {
  if (n == 1) return x[0];
  return Op<T>::join(join_pairwise<Op>(x, n / 2), join_pairwise<Op>(x + n / 2, n - n / 2));
}

// The dimensions that stay and those that go, each merged where they lie one behind the other.
struct Split {
  Dims kept_sizes, kept_strides, gone_sizes, gone_strides;
  Rows<1> kept, gone;
  Split(const View& x, const Dims& dims) {
    for (int d = 0; d < x.ndim; d++) {
      const bool goes = dims.contains(d);
      (goes ? gone_sizes : kept_sizes).push_back(x.sizes[d]);
      (goes ? gone_strides : kept_strides).push_back(x.strides[d]);
    }
    kept = rows(x, kept_sizes, kept_strides);
    gone = rows(x, gone_sizes, gone_strides);
  }
  int64_t kept_count() const { return kept_sizes.product(); }
  int64_t gone_count() const { return gone_sizes.product(); }

 private:
  static Rows<1> rows(const View& x, const Dims& sizes, const Dims& strides) {
    const View v{x.data, sizes.data(), strides.data(), sizes.size(), x.dtype, sizes.product()};
    return make_rows<1>({&v});
  }
};

// Bytes from the first element to number i.
int64_t offset(const Rows<1>& r, int64_t i, int first = 0) {
  int64_t bytes = 0;
  for (int d = first; d < r.ndim; d++) {
    bytes += i % r.sizes[d] * r.strides[0][d];
    i /= r.sizes[d];
  }
  return bytes;
}

// Rows that lie dense: pieces of up to `block` elements, then the pieces of each result.
template <template <class> class Op, class T> void reduce_inner(const View& x, const Split& s, const T* centres, T* y) {
  const int64_t kept = s.kept_count(), n = s.gone.sizes[0], rows = row_count(s.gone), parts = (n + block - 1) / block, pieces = rows * parts;
  const int64_t grain = std::max<int64_t>(1, block / n);
  if (pieces == 1 && s.kept.ndim == 1)
    return pool::parallel_for(kept, grain, [&](int64_t begin, int64_t end) {
      const int64_t down = s.kept.strides[0][0] / static_cast<int64_t>(sizeof(T));
      isa::call<ReduceRows<Op, T>>(x.as<const T>() + begin * down, down, n, end - begin, centres ? centres + begin : nullptr, y + begin);
    });
  const Buffer memory(kept * pieces * static_cast<int64_t>(sizeof(T)));
  T* partial = memory.as<T>();
  pool::parallel_for(kept * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t k = u / pieces, row = u % pieces / parts, at = u % parts * block;
      const char* p = x.data + offset(s.kept, k) + offset(s.gone, row, 1) + at * static_cast<int64_t>(sizeof(T));
      isa::call<ReduceRows<Op, T>>(reinterpret_cast<const T*>(p), int64_t{0}, std::min(block, n - at), int64_t{1}, centres ? centres + k : nullptr, partial + u);
    }
  });
  pool::parallel_for(kept, std::max<int64_t>(1, block / pieces), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) y[k] = join_pairwise<Op>(partial + k * pieces, pieces);
  });
}

// Columns that lie dense: parts of the rows give one row each, and those are reduced in turn.
template <template <class> class Op, class T> void reduce_outer(const T* x, int64_t planes, int64_t plane_step, int64_t rows, int64_t down, int64_t columns, T* y) {
  const int64_t height = std::clamp<int64_t>(65536 / columns, 64, 1024), parts = (rows + height - 1) / height, strips = (columns + strip - 1) / strip;
  std::optional<Buffer> memory;
  T* to = y;
  if (parts > 1) {
    memory.emplace(planes * parts * columns * static_cast<int64_t>(sizeof(T)));
    to = memory->as<T>();
  }
  const int64_t work = std::min(rows, height) * std::min(columns, strip);
  pool::parallel_for(planes * parts * strips, std::max<int64_t>(1, block / work), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t column = u % strips * strip, part = u / strips % parts, plane = u / strips / parts;
      isa::call<ReduceColumns<Op, T>>(x + plane * plane_step + part * height * down + column, down, std::min(height, rows - part * height), std::min(strip, columns - column),
                                      to + (plane * parts + part) * columns + column);
    }
  });
  if (parts > 1) reduce_outer<Op, T>(to, planes, parts * columns, parts, columns, columns, y);
}

// x with the dimensions that go behind the others.
template <class F> void with_inner(const View& x, const Dims& dims, F&& f) {
  Dims order;
  for (int d = 0; d < x.ndim; d++) if (!dims.contains(d)) order.push_back(d);
  const int kept = order.size();
  for (int d = 0; d < x.ndim; d++) if (dims.contains(d)) order.push_back(d);
  const Ordered ordered(x, order);
  const Dense dense(ordered.view);
  Dims behind;
  for (int d = kept; d < x.ndim; d++) behind.push_back(d);
  f(dense.view, Split(dense.view, behind));
}

// y: dense memory for the results. T is the type of x.
template <template <class> class Op, class T> void reduce(const View& x, const Dims& dims, T* y) {
  const Split s(x, dims);
  constexpr int64_t size = sizeof(T);
  if (s.gone.strides[0][0] == size || (s.gone_count() == 1 && s.gone.ndim == 1)) return reduce_inner<Op, T>(x, s, nullptr, y);
  if (s.gone.ndim == 1 && s.kept.strides[0][0] == size && s.kept.sizes[0] >= 8 && s.kept.ndim <= 2) {
    const int64_t planes = s.kept.ndim == 2 ? s.kept.sizes[1] : 1, plane_step = s.kept.ndim == 2 ? s.kept.strides[0][1] / size : 0;
    return reduce_outer<Op, T>(x.as<const T>(), planes, plane_step, s.gone.sizes[0], s.gone.strides[0][0] / size, s.kept.sizes[0], y);
  }
  with_inner(x, dims, [&](const View& v, const Split& inner) { reduce_inner<Op, T>(v, inner, nullptr, y); });
}

template <class T> void divide(T* y, int64_t n, double by) {
  for (int64_t i = 0; i < n; i++) y[i] = static_cast<T>(static_cast<double>(y[i]) / by);
}

int64_t group_size(const View& x, const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= x.sizes[d];
  return n;
}

// f(x, y) with half types widened to float and the result rounded once.
template <class F> void widened(const Launch& l, F&& f) {
  const View &x = l.x[0], &y = l.y[0];
  if (!is_half(x.dtype)) return f(x, y);
  const Dense wide(x, DType::float32);
  const Buffer memory(y.numel * static_cast<int64_t>(sizeof(float)));
  const View result{memory.as<char>(), y.sizes, y.strides, y.ndim, DType::float32, y.numel};
  f(wide.view, result);
  cast(y, result);
}

template <template <class> class Op, bool mean> void kernel(const Launch& l) {
  if (!is_floating(l.x[0].dtype) || l.x[0].numel == 0) return reference(l);
  const Dims& dims = l.attrs.as<Reduce>().dims;
  const double n = static_cast<double>(group_size(l.x[0], dims));
  widened(l, [&](const View& x, const View& y) {
    auto typed = [&](auto zero) {
      using T = decltype(zero);
      reduce<Op, T>(x, dims, y.as<T>());
      if (mean) divide(y.as<T>(), y.numel, n);
    };
    if (x.dtype == DType::float32) typed(0.f);
    else typed(0.);
  });
}

// Two passes: the mean, then the squares of the distances from it.
template <bool root, class T> void variance(const View& x, const Variance& a, T* y) {
  const double n = static_cast<double>(group_size(x, a.dims));
  Split s(x, a.dims);
  auto from_rows = [&](const View& v, const Split& rows) {
    const int64_t kept = rows.kept_count();
    const Buffer means(kept * static_cast<int64_t>(sizeof(T)));
    reduce_inner<Sum, T>(v, rows, nullptr, means.as<T>());
    divide(means.as<T>(), kept, n);
    reduce_inner<Sum, T>(v, rows, means.as<T>(), y);
    divide(y, kept, std::max(n - a.correction, 0.));
    if (root) for (int64_t i = 0; i < kept; i++) y[i] = std::sqrt(y[i]);
  };
  if (s.gone.strides[0][0] == sizeof(T)) from_rows(x, s);
  else with_inner(x, a.dims, from_rows);
}
template <bool root> void variance_kernel(const Launch& l) {
  if (!is_floating(l.x[0].dtype) || l.x[0].numel == 0) return reference(l);
  const Variance& a = l.attrs.as<Variance>();
  widened(l, [&](const View& x, const View& y) {
    if (x.dtype == DType::float32) variance<root>(x, a, y.as<float>());
    else variance<root>(x, a, y.as<double>());
  });
}

constexpr Entry entries[] = {
    {"amax", kernel<Largest, false>},
    {"amin", kernel<Smallest, false>},
    {"mean", kernel<Sum, true>},
    {"std", variance_kernel<true>},
    {"sum", kernel<Sum, false>},
    {"var", variance_kernel<false>},
};

}  // namespace

Entries reduce_kernels() { return entries; }

}  // namespace adjoint::cpu
