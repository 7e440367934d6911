// Functions of the bits of numbers, compiled for a size and not for a type.
#pragma once
#include <array>

#include "elementwise.h"

namespace adjoint::cpu {

inline uint64_t sign_bits(DType type) {
  if (type == DType::complex64) return 0x8000000080000000;
  return is_floating(type) ? uint64_t{1} << (8 * itemsize(type) - 1) : 0;
}

// Functor f over the N inputs of a launch, as unsigned integers of one of the sizes of U...; y: the output, under the type that f gives.
template <class F, int N, class... U> void run_bits(const Launch& l, const View& y, const F& f) {
  std::array<View, N> x;
  for (size_t k = 0; k < N; k++) x[k] = l.x[k];
  Typed found;
  auto try_size = [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (itemsize(l.x[0].dtype) != sizeof(T)) return false;
    for (View& v : x) v.dtype = dtype_of<T>();
    found = typed<F, N, Cost::cheap, T>();
    return true;
  };
  (try_size(TypeTag<U>{}) || ...);
  run_functor({x, {&y, 1}, l.attrs, l.op, l.flat}, found, &f, grain_of(Cost::cheap));
}

}  // namespace adjoint::cpu
