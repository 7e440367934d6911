// Sums and extremes of dense rows.
#pragma once
#include <adjoint/core/complex.h>

#include <cstdint>
#include <limits>
#include <type_traits>

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

// The sum of a dense row, through `map`: as many lanes as fill 256 bytes on every instruction set, emptied every 32 steps,
// so that rounding errors do not pile up. `parts` values alternate (2: real and imaginary parts), and have a sum each.
template <int W, int parts, class T, class Map> [[gnu::always_inline]] inline void sum_lanes(const T* x, int64_t n, Map map, T* sums) {
  typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
  constexpr int vectors = 256 / W, width = W / sizeof(T), lanes = vectors * width;
  Vector total[vectors] = {};
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = n - i > 32 * lanes ? i + 32 * lanes : i + (n - i) / lanes * lanes;
    Vector s[vectors] = {};
    for (; i < end; i += lanes)
#pragma GCC unroll 16
      for (int v = 0; v < vectors; v++) s[v] += map(*reinterpret_cast<const Vector*>(x + i + v * width));
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) total[v] += s[v];
  }
  T tail[parts] = {};
  for (; i < n; i += parts)
    for (int j = 0; j < parts; j++) tail[j] += map(x[i + j]);
#pragma GCC unroll 4
  for (int half = vectors / 2; half; half /= 2)
#pragma GCC unroll 8
    for (int v = 0; v < half; v++) total[v] += total[v + half];
  T last[width];
  __builtin_memcpy(last, total, sizeof last);
#pragma GCC unroll 8
  for (int w = width / 2; w >= parts; w /= 2)
    for (int j = 0; j < w; j++) last[j] += last[j + w];
  for (int j = 0; j < parts; j++) sums[j] = last[j] + tail[j];
}
template <int W, class T, class Map> [[gnu::always_inline]] inline T sum_row(const T* x, int64_t n, Map map) {
  T sum;
  if constexpr (is_complex_v<T>) sum_lanes<W, 2>(reinterpret_cast<const real_t<T>*>(x), 2 * n, map, reinterpret_cast<real_t<T>*>(&sum));
  else sum_lanes<W, 1>(x, n, map, &sum);
  return sum;
}

// The extreme of map(x) over a row. NaN beats nothing, and is looked for in the bits, with shifts and comparisons of integers,
// which other units of a processor do: without its sign it is larger than infinity.
template <int W, class O, class T, class Map> [[gnu::always_inline]] inline T extreme_row(const T* x, int64_t n, Map map) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
  typedef U Bits __attribute__((vector_size(W)));
  constexpr int vectors = 8, width = W / sizeof(T), lanes = vectors * width;
  Vector best[vectors];
  Bits largest[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++) best[v] = Vector{} + O::identity, largest[v] = Bits{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) {
      const Vector a = map(*reinterpret_cast<const Vector*>(x + i + v * width));
      best[v] = O::beats(a, best[v]) ? a : best[v];
      if constexpr (std::is_floating_point_v<T>) {
        const Bits shifted = reinterpret_cast<Bits>(a) << 1;
        largest[v] = shifted > largest[v] ? shifted : largest[v];
      }
    }
#pragma GCC unroll 3
  for (int half = vectors / 2; half; half /= 2)
#pragma GCC unroll 4
    for (int v = 0; v < half; v++) {
      best[v] = O::beats(best[v + half], best[v]) ? best[v + half] : best[v];
      largest[v] = largest[v + half] > largest[v] ? largest[v + half] : largest[v];
    }
  T found[width];
  U sizes[W / sizeof(U)], size = 0;
  __builtin_memcpy(found, best, sizeof found);
  __builtin_memcpy(sizes, largest, sizeof sizes);
  T r = O::identity;
  for (T v : found) r = O::beats(v, r) ? v : r;
  for (U s : sizes) size = s > size ? s : size;
  for (; i < n; i++) r = O::join(r, map(x[i]));
  constexpr U infinite = sizeof(T) == 8 ? U(0xffe0000000000000) : U(0xff000000);
  if (size <= infinite) return r;
  for (i = 0; i < n; i++)
    if (x[i] != x[i]) return x[i];
  return r;
}

}  // namespace adjoint::cpu
