// Copies with conversion between any two types; the common ones in vector loops.
#include "copy.h"
#include "elementwise.h"

namespace adjoint::cpu {

namespace {

template <class To, class From> struct CastLoop {
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* from, const void*, int64_t n) {
    Convert<To, From>::template run<W>(to, from[0], n);
  }
};

template <class T> constexpr bool is_common =
    std::is_floating_point_v<T> || is_reduced<T> || std::is_same_v<T, bool> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

template <class To, class From> void cast_typed(const View& y, const View& x) {
  using Body = CastLoop<To, From>;
  Program p{nullptr, nullptr, grain_of(Cost::cheap), plain_output<To>(), {plain_input<From>()}};
  if constexpr (is_common<To> && is_common<From>) p.loop = isa::table<Body, char*, const char* const*, const void*, int64_t>[isa::level];
  else p.loop = isa::run_baseline<Body, char*, const char* const*, const void*, int64_t>;
  run(p, y, {&x, 1});
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
  if (y.dtype == x.dtype) return copy(y, x);
  with_type(x.dtype, [&](auto from) {
    with_type(y.dtype, [&](auto to) { cast_typed<typename decltype(to)::type, typename decltype(from)::type>(y, x); });
  });
}

Entries copy_kernels() { return entries; }

}  // namespace adjoint::cpu
