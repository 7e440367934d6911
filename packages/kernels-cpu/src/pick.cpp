// The position of the extreme or the middle along one dimension, and its value: argmax, argmin, max, min, median, nanmedian. The first of equal
// elements, and but for nanmedian the first NaN before all.
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <limits>
#include <utility>

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

// ---- median: the lower of two middle values, of equal ones that which a stable sort puts there; a NaN, if there is one

// The numbers between two, of a row, and how many smaller ones there are; without a branch.
template <class T> struct Candidates {
  int64_t count = 0, below = 0;
  bool nan = false;
};
template <class T> Candidates<T> candidates(const T* x, int64_t n, T low, T high, T* to) {
  int64_t count = 0, below = 0, nan = 0;
  for (int64_t i = 0; i < n; i++) {
    const T v = x[i];
    to[count] = v;
    below += v < low ? 1 : 0;
    count += (v >= low) & (v <= high) ? 1 : 0;
    nan |= v != v ? 1 : 0;
  }
  return {count, below, nan != 0};
}
// How many are smaller than a number, equal to it, and NaN.
template <class T> struct CountAround {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, T number, int64_t* counts) {
    using Count = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    for (int64_t i = 0; i < n; i += block) {
      Count below = 0, equal = 0, nan = 0;
      const int64_t end = n - i < block ? n : i + block;
      for (int64_t j = i; j < end; j++) {
        below += x[j] < number ? 1 : 0;
        equal += x[j] == number ? 1 : 0;
        nan += x[j] != x[j] ? 1 : 0;
      }
      counts[0] += below, counts[1] += equal, counts[2] += nan;
    }
  }
};
// Between which numbers the k-th lies, but for one in ten thousand times.
template <class T> struct Guess { T low, likely, high; };
template <class T> Guess<T> guess(const T* x, int64_t k, int64_t n, int64_t samples) {
  constexpr int64_t most = 1024, margin = 64;  // four standard deviations of the rank
  T sample[most];
  for (int64_t i = 0; i < samples; i++) {
    sample[i] = x[(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15 >> 16) % static_cast<uint64_t>(n)];   // no period that x may have too
    if (sample[i] != sample[i]) return {sample[i], sample[i], sample[i]};
  }
  auto ranked = [&](int64_t rank) {
    T* const at = sample + std::clamp<int64_t>(rank, 0, samples - 1);
    std::nth_element(sample, at, sample + samples);
    return *at;
  };
  const int64_t rank = k * samples / n;
  const T low = ranked(rank - margin), likely = ranked(rank);
  return {low, likely, ranked(rank + margin)};
}
// Where the wanted number stands for the (skip + 1)-th time; NaN counts as one.
template <class T> int64_t find_nth(const T* x, int64_t n, T wanted, int64_t skip) {
  constexpr int64_t step = 64;
  const bool nan = wanted != wanted;
  auto hit = [&](int64_t i) { return (x[i] == wanted) | (nan & (x[i] != x[i])) ? 1 : 0; };
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    int hits = 0;
    for (int64_t j = 0; j < step; j++) hits += hit(i + j);
    if (hits > skip) break;
    skip -= hits;
  }
  for (;; i++)
    if (hit(i) && skip-- == 0) return i;
}
// Of a few: that before which, in a stable order, k others stand. -1 if one is NaN.
template <class T> int64_t median_of_few(const T* x, int64_t n) {
  int64_t at = 0, nan = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t before = 0;
    for (int64_t j = 0; j < i; j++) before += x[j] <= x[i] ? 1 : 0;
    for (int64_t j = i + 1; j < n; j++) before += x[j] < x[i] ? 1 : 0;
    at = before == (n - 1) / 2 ? i : at;
    nan |= x[i] != x[i] ? 1 : 0;
  }
  return nan ? -1 : at;
}
// The k-th of all, among the numbers from low to high; `to`: memory for n + 1.
template <class T> Best<T> kth_between(const T* x, int64_t n, int64_t k, T low, T high, T* to) {
  using Limits = std::numeric_limits<T>;
  Candidates<T> c = candidates(x, n, low, high, to);
  if (!c.nan && !(c.below <= k && k < c.below + c.count))
    c = candidates(x, n, Limits::has_infinity ? -Limits::infinity() : Limits::lowest(), Limits::has_infinity ? Limits::infinity() : Limits::max(), to);
  if (c.nan) {
    const int64_t at = find_nth(x, n, Limits::quiet_NaN(), 0);
    return {x[at], at};
  }
  T* const middle = to + (k - c.below);
  std::nth_element(to, middle, to + c.count);
  const int64_t at = find_nth(x, n, *middle, std::count(to, middle, *middle));
  return {x[at], at};
}
template <class T> Best<T> median_of(const T* x, int64_t n, T* to) {
  const int64_t k = (n - 1) / 2, few = n <= 12 ? median_of_few(x, n) : -1;
  if (few >= 0) return {x[few], few};
  const bool many = n >= 16384;
  auto [low, number, high] = n < 128 ? Guess<T>{{}, x[n / 2], {}} : guess(x, k, n, many ? 1024 : 32);
  if (!many) low = Largest<T>::identity, high = Smallest<T>::identity;
  // Counts around one number after another leave those on one side of each; where numbers are often equal, the first is the median itself.
  const int64_t step = (n == 10007 ? 10009 : 10007) % n;   // a prime, whose multiples come by all
  int64_t at = n / 2;
  for (int64_t tries = 0, seen = 0; tries < (many ? 1 : 16) && seen < n; tries++) {
    int64_t counts[3] = {};
    isa::call<CountAround<T>, const T*, int64_t, T, int64_t*>(x, n, number, counts);
    if (counts[2] == 0 && counts[0] <= k && k < counts[0] + counts[1]) {
      at = find_nth(x, n, number, k - counts[0]);
      return {x[at], at};
    }
    if (many || counts[2]) break;
    (k < counts[0] ? high : low) = number;
    do at = at + step < n ? at + step : at + step - n;
    while (++seen < n && !((x[at] > low) & (x[at] < high)));
    number = x[at];
  }
  return kth_between(x, n, k, low, high, to);
}
// Of the numbers among n elements, which go to `to`, in front of memory for n + 1 more; a NaN if there are none.
template <class T> Best<T> median_of_numbers(const T* x, int64_t step, int64_t n, T* to) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    const T v = x[i * step];
    to[count] = v;
    count += v == v ? 1 : 0;
  }
  if (count == 0) return {x[0], 0};
  Best<T> best = median_of(static_cast<const T*>(to), count, to + n);
  if (count == n) return best;
  int64_t at = 0;
  for (int64_t numbers = best.at;; at++)
    if (x[at * step] == x[at * step] && numbers-- == 0) return {best.value, at};
}
template <bool skips_nan, class T> void medians(const Lines& l, const T* x, T* values, int64_t* at) {
  pool::parallel_for(l.outer * l.inner, std::max<int64_t>(1, 4096 / l.n), [&](int64_t first, int64_t last) {
    const Buffer memory((2 * l.n + 1) * static_cast<int64_t>(sizeof(T)));
    T* const line = memory.as<T>();
    for (int64_t u = first; u < last; u++) {
      const T* from = x + u / l.inner * l.n * l.inner + u % l.inner;
      Best<T> best;
      if constexpr (skips_nan) {
        best = median_of_numbers(from, l.inner, l.n, line);
      } else {
        if (l.inner > 1) {
          for (int64_t i = 0; i < l.n; i++) line[i] = from[i * l.inner];
          from = line;
        }
        best = median_of(from, l.n, line + l.n);
      }
      values[u] = best.value;
      at[u] = best.at;
    }
  });
}
template <bool skips_nan> void median_kernel(const Launch& l) {
  const View& x = l.x[0];
  const DType type = widened(x.dtype);
  if (x.numel == 0) return reference(l);
  const Lines lines(x, l.attrs.as<DimKeep>().dim);
  auto typed = [&](auto zero) {
    using T = decltype(zero);
    const Contiguous in(x, type);
    if (type == x.dtype) return medians<skips_nan>(lines, in.as<const T>(), l.y[0].as<T>(), l.y[1].as<int64_t>());
    const Dense values(l.y[0], type);
    medians<skips_nan>(lines, in.as<const T>(), values.view.as<T>(), l.y[1].as<int64_t>());
    cast(l.y[0], values.view);
  };
  switch (type) {
    case DType::float32: return typed(0.f);
    case DType::float64: return typed(0.);
    case DType::int32: return typed(int32_t{});
    case DType::int64: return typed(int64_t{});
    default: return reference(l);
  }
}

constexpr Entry entries[] = {
    {"argmax", kernel<Largest, false>},
    {"argmin", kernel<Smallest, false>},
    {"max", kernel<Largest, true>},
    {"median", median_kernel<false>},
    {"min", kernel<Smallest, true>},
    {"nanmedian", median_kernel<true>},
};

}  // namespace

Entries pick_kernels() { return entries; }

}  // namespace adjoint::cpu
