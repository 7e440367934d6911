// Copies with conversion between any two types; the common ones in vector loops.
#include "copy.h"
#include "elementwise.h"

namespace adjoint::cpu {

namespace {

template <class T> constexpr bool is_common =
    std::is_floating_point_v<T> || is_reduced<T> || std::is_same_v<T, bool> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

template <class To, class From> void cast_loop(char* to, const char* const* from, const void*, int64_t n) {
  if constexpr (is_common<To> && is_common<From>) convert_dense<To, From>(to, from[0], n);
  else isa::run_baseline<Convert<To, From>>(to, from[0], n);
}
template <class To, class From> void cast_typed(const View& y, const View& x) {
  run({cast_loop<To, From>, nullptr, grain_of(Cost::cheap), plain_output<To>(), {plain_input<From>()}}, y, {&x, 1});
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
