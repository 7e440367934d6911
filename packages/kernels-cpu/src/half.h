// Conversion of dense half-precision values, in hardware where there is some.
#pragma once
#include <adjoint/core/half.h>

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed to functions that are inlined

namespace adjoint::cpu {

void widen(float* y, const Half* x, int64_t n);
void narrow(Half* y, const float* x, int64_t n);

// W bytes of floats, and half as many of halves.
template <int W> struct Halves {
  typedef float Wide __attribute__((vector_size(W), aligned(4), may_alias));
  typedef uint16_t Stored __attribute__((vector_size(W / 2), aligned(2), may_alias));
};

// For kernel bodies. Assembly, since an intrinsic cannot stand in a body that is compiled for several instruction sets.
template <int W> [[gnu::always_inline]] inline typename Halves<W>::Wide load_halves(const Half* x) {
  typename Halves<W>::Wide y;
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr (W > 16) {
    asm("vcvtph2ps %1, %0" : "=v"(y) : "m"(*reinterpret_cast<const typename Halves<W>::Stored*>(x)));
    return y;
  }
#endif
  for (int j = 0; j < W / 4; j++) y[j] = x[j];
  return y;
}
template <int W> [[gnu::always_inline]] inline void store_halves(Half* y, const typename Halves<W>::Wide& x) {
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr (W > 16) {
    asm("vcvtps2ph $0, %1, %0" : "=m"(*reinterpret_cast<typename Halves<W>::Stored*>(y)) : "v"(x));
    return;
  }
#endif
  for (int j = 0; j < W / 4; j++) y[j] = Half(x[j]);
}

}  // namespace adjoint::cpu
