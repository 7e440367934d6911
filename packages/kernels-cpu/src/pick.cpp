// The position of the extreme along one dimension, and its value: argmax, argmin, max, min. The first of equal elements, and
// the first NaN before all.
#include <adjoint/core/op_attrs.h>

#include <algorithm>

#include "compilers.h"
#include "fold.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t block = 32768;  // elements of a row whose extreme is found at a time
constexpr int64_t strip = 512;    // columns

template <class T> struct Best {
  T value;
  int64_t at;
};

// First the extreme, then where it is: two plain passes over a row that stays in the cache.
template <template <class> class Op, class T> struct ExtremeOfRow {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, T* value) { *value = extreme_row<W, Op<T>>(x, n, Same{}); }
};
template <class T> struct Find {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, T wanted, int64_t* at) {
    constexpr int64_t step = 64;
    const bool nan = wanted != wanted;
    int64_t i = 0;
    for (; i + step <= n; i += step) {
      T hit = 0;
      for (int64_t j = 0; j < step; j++) hit += x[i + j] == wanted || (nan && x[i + j] != x[i + j]) ? T(1) : T(0);
      if (hit != 0) break;
    }
    while (!(x[i] == wanted || (nan && x[i] != x[i]))) i++;
    *at = i;
  }
};
template <template <class> class Op, class T> T extreme_of(const T* x, int64_t n) {
  T value;
  isa::call<ExtremeOfRow<Op, T>, const T*, int64_t, T*>(x, n, &value);
  return value;
}
template <class T> int64_t find(const T* x, int64_t n, T value) {
  int64_t at;
  isa::call<Find<T>, const T*, int64_t, T, int64_t*>(x, n, value, &at);
  return at;
}

template <template <class> class Op, class T> Best<T> pick_long(const T* x, int64_t n) {
  const int64_t blocks = (n + block - 1) / block;
  const Buffer memory(blocks * static_cast<int64_t>(sizeof(T)));
  T* best = memory.as<T>();
  pool::parallel(blocks, [&](int64_t b) { best[b] = extreme_of<Op>(x + b * block, std::min(block, n - b * block)); });
  const T value = extreme_of<Op>(best, blocks);
  const int64_t begin = find(best, blocks, value) * block;
  return {value, begin + find(x + begin, std::min(block, n - begin), value)};
}
template <template <class> class Op, class T> Best<T> pick_row(const T* x, int64_t n) {
  const T value = extreme_of<Op>(x, n);
  return {value, find(x, n, value)};
}

template <template <class> class Op, class T> struct PickColumns {
  static constexpr bool narrow = true;
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;  // as wide as the data: loops over both vectorise
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, int64_t down, int64_t width, T* value, int64_t* at) {
    Index best[strip];
    for (int64_t j = 0; j < width; j++) value[j] = x[j], best[j] = 0;
    for (int64_t i = 1; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        const T v = x[i * down + j], b = value[j];
        const bool better = (Op<T>::beats(v, b) | (v != v)) & (b == b);
        value[j] = better ? v : b;
        best[j] = better ? static_cast<Index>(i) : best[j];
      }
    for (int64_t j = 0; j < width; j++) at[j] = best[j];
  }
};

// values: null if not wanted.
template <template <class> class Op, class T> void pick(const Lines& l, const T* x, T* values, int64_t* at) {
  if (l.inner == 1) {
    auto put = [&](int64_t r, Best<T> best) {
      at[r] = best.at;
      if (values) values[r] = best.value;
    };
    if (l.n > 4 * block) {
      for (int64_t r = 0; r < l.outer; r++) put(r, pick_long<Op>(x + r * l.n, l.n));
      return;
    }
    return pool::parallel_for(l.outer, std::max<int64_t>(1, block / l.n), [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; r++) put(r, pick_row<Op>(x + r * l.n, l.n));
    });
  }
  const int64_t strips = (l.inner + strip - 1) / strip;
  pool::parallel_for(l.outer * strips, std::max<int64_t>(1, block / (l.n * std::min(l.inner, strip))), [&](int64_t first, int64_t last) {
    T scratch[strip];
    for (int64_t u = first; u < last; u++) {
      const int64_t column = u % strips * strip, to = u / strips * l.inner + column;
      isa::call<PickColumns<Op, T>>(x + u / strips * l.n * l.inner + column, l.n, l.inner, std::min(strip, l.inner - column), values ? values + to : scratch, at + to);
    }
  });
}

template <template <class> class Op, bool with_values> void kernel(const Launch& l) {
  const View& x = l.x[0];
  const DType type = widened(x.dtype);
  const int dim = l.attrs.as<DimKeep>().dim;
  if (x.numel == 0 || x.sizes[dim] > std::numeric_limits<int32_t>::max()) return reference(l);
  const LinesOf in(x, dim, type);
  int64_t* at = l.y[with_values ? 1 : 0].as<int64_t>();
  auto typed = [&](auto zero) {
    using T = decltype(zero);
    if (!with_values || type == x.dtype) return pick<Op>(in.lines, in.as<T>(), with_values ? l.y[0].as<T>() : nullptr, at);
    const Dense values(l.y[0], type);
    pick<Op>(in.lines, in.as<T>(), values.view.as<T>(), at);
    cast(l.y[0], values.view);
  };
  switch (type) {
    case DType::float32: return typed(0.f);
    case DType::float64: return typed(0.);
    case DType::uint8: return typed(uint8_t{});
    case DType::int32: return typed(int32_t{});
    case DType::int64: return typed(int64_t{});
    default: return reference(l);
  }
}

constexpr Entry entries[] = {
    {"argmax", kernel<Largest, false>},
    {"argmin", kernel<Smallest, false>},
    {"max", kernel<Largest, true>},
    {"min", kernel<Smallest, true>},
};

}  // namespace

Entries pick_kernels() { return entries; }

}  // namespace adjoint::cpu
