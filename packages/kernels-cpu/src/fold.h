// Sums and extremes of dense rows.
#pragma once
#include <adjoint/core/complex.h>
#include <adjoint/core/dtype.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "half.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed to functions that are inlined

namespace adjoint::cpu {

// How two values, or two vectors of them, become one.
template <class T> struct Sum {
  static constexpr T identity = 0;
  static constexpr bool rounds = true;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) { return a + b; }
};
// NaN wins over every number.
template <class T> struct Largest {
  static constexpr T identity = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static constexpr bool rounds = false;
  template <class V> [[gnu::always_inline]] static inline auto beats(V a, V b) { return a > b; }
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) {
    const V r = b > a ? b : a;
    return b != b ? b : r;
  }
};
template <class T> struct Smallest {
  static constexpr T identity = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static constexpr bool rounds = false;
  template <class V> [[gnu::always_inline]] static inline auto beats(V a, V b) { return a < b; }
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) {
    const V r = b < a ? b : a;
    return b != b ? b : r;
  }
};

// What is done to an element first.
struct Same {
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return x; }
};
struct Numbers {  // 0 for NaN
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return x == x ? x : V{}; }
};
struct Square {
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return x * x; }
};
struct Magnitude {
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return x < 0 ? -x : x; }
};
template <class T> struct SquareFrom {
  T centre;
  template <class V> [[gnu::always_inline]] inline V operator()(V x) const { return (x - centre) * (x - centre); }
};

// W bytes of elements T from memory, where half types are widened.
template <int W, class T, class S> [[gnu::always_inline]] inline auto load_vector(const S* x) {
  if constexpr (std::is_same_v<S, Half>) {
    return load_halves<W>(x);
  } else if constexpr (std::is_same_v<S, BFloat16>) {
    typedef std::enable_if_t<(W > 0), uint32_t> Bits __attribute__((vector_size(W)));
    const Bits bits = __builtin_convertvector(*reinterpret_cast<const typename Halves<W>::Stored*>(x), Bits) << 16;
    typename Halves<W>::Wide y;
    __builtin_memcpy(&y, &bits, sizeof y);
    return y;
  } else {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    return *reinterpret_cast<const Vector*>(x);
  }
}

template <class I> inline constexpr I last_lanes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
// Lane j of x where 64 bytes of lanes, beginning at `from` in the table above, are all ones; else 0.
template <int W, class T, class V> [[gnu::always_inline]] inline V only(V x, int64_t from) {
  using I = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  typedef I Bits __attribute__((vector_size(W), aligned(alignof(I)), may_alias));
  Bits bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits &= *reinterpret_cast<const Bits*>(last_lanes<I> + (16 - 64 / sizeof(T)) + from);
  __builtin_memcpy(&x, &bits, sizeof bits);
  return x;
}

// What is summed: elements of memory, through `map`; products of two rows.
template <class S, class Map> struct Elements {
  const S* x;
  Map map;
  template <int W, class T> [[gnu::always_inline]] inline auto vector(int64_t i) const { return map(load_vector<W, T>(x + i)); }
  template <class T> [[gnu::always_inline]] inline T element(int64_t i) const { return map(static_cast<T>(x[i])); }
};
// The squares of the distances from a complex number, of both parts.
template <class T> struct PairsFrom {
  const T* x;
  Complex<T> centre;
  template <int W, class> [[gnu::always_inline]] inline auto vector(int64_t i) const {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    Vector centres;
    for (size_t j = 0; j < W / sizeof(T); j += 2) centres[j] = centre.re, centres[j + 1] = centre.im;
    const Vector d = load_vector<W, T>(x + i) - centres;
    return d * d;
  }
  template <class> [[gnu::always_inline]] inline T element(int64_t i) const {
    const T d = x[i] - (i & 1 ? centre.im : centre.re);
    return d * d;
  }
};
template <class S> struct Products {
  const S *a, *b;
  template <int W, class T> [[gnu::always_inline]] inline auto vector(int64_t i) const { return load_vector<W, T>(a + i) * load_vector<W, T>(b + i); }
  template <class T> [[gnu::always_inline]] inline T element(int64_t i) const { return static_cast<T>(a[i]) * static_cast<T>(b[i]); }
};

// The sum of W bytes of lanes, half onto half, until `parts` are left.
template <int W, int parts, class T, class V> [[gnu::always_inline]] inline void join_lanes(V x, T* sums) {
  constexpr int width = W / sizeof(T);
  if constexpr (width <= 2) {
    T last[width];
    __builtin_memcpy(last, &x, W);
    for (int j = 0; j < parts; j++) sums[j] = width == parts ? last[j] : last[0] + last[1];
  } else {
    typedef T Part __attribute__((vector_size(W / 2), aligned(alignof(T)), may_alias));
    Part low, high;
    __builtin_memcpy(&low, &x, W / 2);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&x) + W / 2, W / 2);
    join_lanes<W / 2, parts, T>(low + high, sums);
  }
}
// The elements from i on, in lanes of 64 bytes; the last of those are read whole, and what was added before is left out.
template <int W, class T, class Vector, class From> [[gnu::always_inline]] inline void add_groups(From from, int64_t i, int64_t n, Vector* sum) {
  constexpr int width = W / sizeof(T), group = 64 / sizeof(T), steps = group / width;
  for (; i + group <= n; i += group)
#pragma GCC unroll 4
    for (int v = 0; v < steps; v++) sum[v] += from.template vector<W, T>(i + v * width);
  if (i < n)
#pragma GCC unroll 4
    for (int v = 0; v < steps; v++) sum[v] += only<W, T>(from.template vector<W, T>(n - group + v * width), n - i + v * width);
}

// The sum of a row: as many lanes as fill 256 bytes on every instruction set, emptied every 32 steps,
// so that rounding errors do not pile up. `parts` values alternate (2: real and imaginary parts), and have a sum each.
template <int W, int parts, class T, class From> [[gnu::always_inline]] inline void sum_lanes(From from, int64_t n, T* sums) {
  typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
  constexpr int vectors = 256 / W, width = W / sizeof(T), lanes = vectors * width, group = 64 / sizeof(T), steps = group / width;
  if (n < group) {
    for (int j = 0; j < parts; j++) sums[j] = 0;
    for (int64_t i = 0; i < n; i += parts)
      for (int j = 0; j < parts; j++) sums[j] += from.template element<T>(i + j);
    return;
  }
  Vector more[steps] = {};
  if (n < lanes) {
    add_groups<W, T>(from, 0, n, more);
  } else {
    Vector total[vectors] = {};
    int64_t i = 0;
    while (i + lanes <= n) {
      const int64_t end = n - i > 32 * lanes ? i + 32 * lanes : i + (n - i) / lanes * lanes;
      Vector s[vectors] = {};
      for (; i < end; i += lanes)
#pragma GCC unroll 16
        for (int v = 0; v < vectors; v++) s[v] += from.template vector<W, T>(i + v * width);
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) total[v] += s[v];
    }
    add_groups<W, T>(from, i, n, more);
#pragma GCC unroll 4
    for (int v = 0; v < steps; v++) total[v] += more[v];
#pragma GCC unroll 4
    for (int half = vectors / 2; half >= steps; half /= 2)
#pragma GCC unroll 8
      for (int v = 0; v < half; v++) total[v] += total[v + half];
#pragma GCC unroll 4
    for (int v = 0; v < steps; v++) more[v] = total[v];
  }
#pragma GCC unroll 4
  for (int half = steps / 2; half; half /= 2)
#pragma GCC unroll 4
    for (int v = 0; v < half; v++) more[v] += more[v + half];
  join_lanes<W, parts>(more[0], sums);
}
template <int W, class From> [[gnu::always_inline]] inline auto sum_of(From from, int64_t n) {
  auto sum = from.template element<std::remove_cvref_t<decltype(*from.a)>>(0);
  sum_lanes<W, 1>(from, n, &sum);
  return sum;
}
template <int W, class S, class Map> [[gnu::always_inline]] inline auto sum_row(const S* x, int64_t n, Map map) {
  using T = compute_t<S>;
  T sum;
  if constexpr (std::is_same_v<Map, SquareFrom<T>> && is_complex_v<T>) sum_lanes<W, 2>(PairsFrom<real_t<T>>{reinterpret_cast<const real_t<T>*>(x), map.centre}, 2 * n, reinterpret_cast<real_t<T>*>(&sum));
  else if constexpr (is_complex_v<T>) sum_lanes<W, 2>(Elements<real_t<T>, Map>{reinterpret_cast<const real_t<T>*>(x), map}, 2 * n, reinterpret_cast<real_t<T>*>(&sum));
  else sum_lanes<W, 1>(Elements<S, Map>{x, map}, n, &sum);
  return sum;
}

// The extreme of map(x) over a row. NaN beats nothing; it shows in the sum of all elements, as do infinities of both signs,
// and is looked for then.
template <int W, class O, class T, class Map> [[gnu::always_inline]] inline T extreme_row(const T* x, int64_t n, Map map) {
  typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
  constexpr int vectors = 4, width = W / sizeof(T), lanes = vectors * width;
  Vector best[vectors], total[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) best[v] = Vector{} + O::identity, total[v] = Vector{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      const Vector a = map(*reinterpret_cast<const Vector*>(x + i + v * width));
      best[v] = O::beats(a, best[v]) ? a : best[v];
      if constexpr (std::is_floating_point_v<T>) total[v] += a;
    }
#pragma GCC unroll 2
  for (int half = vectors / 2; half; half /= 2)
#pragma GCC unroll 2
    for (int v = 0; v < half; v++) {
      best[v] = O::beats(best[v + half], best[v]) ? best[v + half] : best[v];
      total[v] += total[v + half];
    }
  const auto also = [&](const T* p) __attribute__((always_inline)) {
    const Vector a = map(*reinterpret_cast<const Vector*>(p));
    best[0] = O::beats(a, best[0]) ? a : best[0];
    if constexpr (std::is_floating_point_v<T>) total[0] += a;
  };
  for (; i + width <= n; i += width) also(x + i);
  if (i < n && n >= width) also(x + n - width), i = n;   // some elements twice
  T found[width], totals[width];
  __builtin_memcpy(found, best, sizeof found);
  __builtin_memcpy(totals, total, sizeof totals);
#pragma GCC unroll 8
  for (int w = width / 2; w; w /= 2)
    for (int j = 0; j < w; j++) {
      found[j] = O::beats(found[j + w], found[j]) ? found[j + w] : found[j];
      totals[j] += totals[j + w];
    }
  T r = found[0], sum = totals[0];
  for (; i < n; i++) r = O::join(r, map(x[i]));
  if (sum == sum) return r;
  for (i = 0; i < n; i++)
    if (x[i] != x[i]) return x[i];
  return r;
}

// The extreme of a row of a half type by its bits, as integers in the order of the numbers: half as wide as what they are widened to. The largest
// magnitude tells of NaN.
template <int W, class S, bool largest> [[gnu::always_inline]] inline float extreme_half(const S* x, int64_t n) {
  typedef std::enable_if_t<(W > 0), int16_t> Vector __attribute__((vector_size(W), aligned(2), may_alias));
  constexpr int64_t width = W / 2;
  constexpr int16_t infinity = std::is_same_v<S, Half> ? 0x7c00 : 0x7f80;
  const auto better = [](auto a, auto b) __attribute__((always_inline)) { return largest ? (a > b ? a : b) : (a < b ? a : b); };
  Vector best = Vector{} + static_cast<int16_t>(largest ? -0x8000 : 0x7fff), magnitude = Vector{};
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Vector bits = *reinterpret_cast<const Vector*>(x + i), unsigned_bits = bits & int16_t(0x7fff);
    magnitude = magnitude > unsigned_bits ? magnitude : unsigned_bits;
    best = better(best, Vector(bits ^ ((bits >> 15) & int16_t(0x7fff))));
  }
  int16_t found = largest ? -0x8000 : 0x7fff, most = 0;
  for (int64_t j = 0; j < width; j++) found = better(found, best[j]), most = most > magnitude[j] ? most : magnitude[j];
  for (; i < n; i++) {
    const int16_t bits = std::bit_cast<int16_t>(x[i]), unsigned_bits = static_cast<int16_t>(bits & 0x7fff);
    most = most > unsigned_bits ? most : unsigned_bits;
    found = better(found, static_cast<int16_t>(bits ^ ((bits >> 15) & 0x7fff)));
  }
  for (i = 0; most > infinity; i++)
    if (const float v = static_cast<float>(x[i]); v != v) return v;
  return static_cast<float>(std::bit_cast<S>(static_cast<int16_t>(found ^ ((found >> 15) & 0x7fff))));
}

}  // namespace adjoint::cpu
