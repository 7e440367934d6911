// Copies with conversion between any two types; the common ones in vector loops.
#include <algorithm>

#include "compilers.h"
#include "copy.h"
#include "elementwise.h"

namespace adjoint::cpu {

namespace {

template <class T> constexpr bool is_common =
    std::is_floating_point_v<T> || is_reduced<T> || std::is_same_v<T, bool> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;
template <class T> constexpr bool is_narrow = std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t> || std::is_same_v<T, uint16_t>;

// Narrow integers go through int32, a tile at a time: what is cut off, and bool, are the same in one step and in two.
template <class To, class From> void cast_by_tiles(char* to, const char* from, int64_t n) {
  alignas(64) char tile[tile_size * sizeof(int32_t)];
  for (int64_t i = 0; i < n; i += tile_size) {
    const int64_t m = std::min(tile_size, n - i);
    convert_dense<int32_t, From>(tile, from + i * static_cast<int64_t>(sizeof(From)), m);
    convert_dense<To, int32_t>(to + i * static_cast<int64_t>(sizeof(To)), tile, m);
  }
}

// Complex numbers are pairs: their real parts go into a tile of numbers, or come from one.
template <class R> struct Pair {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* from, const void*, int64_t n) {
    R* y = reinterpret_cast<R*>(to);
    const R* x = reinterpret_cast<const R*>(from[0]);
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[2 * i] = x[i], y[2 * i + 1] = 0;
  }
};
template <class R> struct RealParts {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* from, const void*, int64_t n) {
    R* y = reinterpret_cast<R*>(to);
    const R* x = reinterpret_cast<const R*>(from[0]);
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = x[2 * i];
  }
};
template <class R> void truth_of_parts(char* to, const char* const* from, const void*, int64_t n) { convert_dense<bool, R>(to, from[0], 2 * n); }
struct EitherPart {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* from, const void*, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) to[i] = static_cast<char>(from[0][2 * i] | from[0][2 * i + 1]);
  }
};
template <class K> Loop loop_of() { return isa::at_level<K, char*, const char* const*, const void*, int64_t>(); }

// Two loops with a tile between them.
void in_two_steps(char* to, int64_t to_size, const char* from, int64_t from_size, int64_t n, Loop first, Loop second) {
  alignas(64) char tile[tile_size * sizeof(double)];
  const char* const between = tile;
  for (int64_t i = 0; i < n; i += tile_size, from += tile_size * from_size, to += tile_size * to_size) {
    const int64_t m = std::min(tile_size, n - i);
    first(tile, &from, nullptr, m);
    second(to, &between, nullptr, m);
  }
}
template <class To, class From> void cast_loop(char* to, const char* const* from, const void*, int64_t n);
template <class To, class From> void cast_complex(char* to, const char* from, int64_t n) {
  using R = std::conditional_t<is_complex_v<To>, real_t<To>, real_t<From>>;
  if constexpr (is_complex_v<To>) in_two_steps(to, sizeof(To), from, sizeof(From), n, cast_loop<R, From>, loop_of<Pair<R>>());
  else if constexpr (std::is_same_v<To, bool>) in_two_steps(to, 1, from, sizeof(From), n, truth_of_parts<R>, loop_of<EitherPart>());
  else in_two_steps(to, sizeof(To), from, sizeof(From), n, loop_of<RealParts<R>>(), cast_loop<To, R>);
}
template <class To, class From> void cast_loop(char* to, const char* const* from, const void*, int64_t n) {
  if constexpr (is_complex_v<To> && is_complex_v<From>) convert_dense<real_t<To>, real_t<From>>(to, from[0], 2 * n);
  else if constexpr (is_complex_v<To> || is_complex_v<From>) cast_complex<To, From>(to, from[0], n);
  else if constexpr (is_common<To> && is_common<From>) convert_dense<To, From>(to, from[0], n);
  else if constexpr ((is_narrow<To> || is_common<To>) && (is_narrow<From> || is_common<From>)) cast_by_tiles<To, From>(to, from[0], n);
  else isa::run_baseline<Convert<To, From>>(to, from[0], n);
}
// Types that share their bits share a loop.
template <class To, class From> void cast_typed(const View& y, const View& x) {
  if constexpr (std::is_same_v<From, bool>) cast_typed<To, uint8_t>(y, x);
  else if constexpr (std::is_same_v<To, int8_t> && std::is_integral_v<From>) cast_typed<uint8_t, From>(y, x);
  else if constexpr (std::is_same_v<To, uint16_t>) cast_typed<int16_t, From>(y, x);
  else run({cast_loop<To, From>, nullptr, grain_of(Cost::cheap), plain_output(sizeof(To)), {plain_input(sizeof(From))}}, y, {&x, 1});
}

template <int source> void copy_kernel(const Launch& l) { cast(l.y[0], l.x[source]); }

constexpr Entry entries[] = {
    {"clone", copy_kernel<0>},
    {"contiguous", copy_kernel<0>},
    {"copy", copy_kernel<1>},
    {"to_dtype", copy_kernel<0>},
};

}  // namespace

void cast(const View& y, const View& x) {
  const bool same_bits = is_integral(x.dtype) && is_integral(y.dtype) && itemsize(x.dtype) == itemsize(y.dtype) && y.dtype != DType::bool_;
  if (y.dtype == x.dtype || same_bits) return copy(y, x);
  with_type(x.dtype, [&](auto from) {
    with_type(y.dtype, [&](auto to) { cast_typed<typename decltype(to)::type, typename decltype(from)::type>(y, x); });
  });
}

Entries copy_kernels() { return entries; }

}  // namespace adjoint::cpu
