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
#if defined(__clang__)
  typedef _Float16 Numbers __attribute__((vector_size(W / 2), aligned(2), may_alias));
#endif
};

// Whether the baseline has instructions for them.
#if defined(__aarch64__)
constexpr bool hardware_halves = true;
#else
constexpr bool hardware_halves = false;
#endif

// For kernel bodies. Assembly, since an intrinsic cannot stand in a body that is compiled for several instruction sets.
template <int W> [[gnu::always_inline]] inline typename Halves<W>::Wide load_halves(const Half* x) {
  typename Halves<W>::Wide y;
#if defined(__clang__)   // checks the operands of assembly before it knows the instruction set
  if constexpr (W > 16 || hardware_halves) return __builtin_convertvector(*reinterpret_cast<const typename Halves<W>::Numbers*>(x), typename Halves<W>::Wide);
#elif defined(__x86_64__) && defined(__GNUC__)
  if constexpr (W > 16) {
    asm("vcvtph2ps %1, %0" : "=v"(y) : "m"(*reinterpret_cast<const typename Halves<W>::Stored*>(x)));
    return y;
  }
#elif defined(__aarch64__) && defined(__GNUC__)
  if constexpr (W == 16) {
    asm("fcvtl %0.4s, %1.4h" : "=w"(y) : "w"(*reinterpret_cast<const typename Halves<W>::Stored*>(x)));
    return y;
  }
#endif
  for (int j = 0; j < W / 4; j++) y[j] = x[j];
  return y;
}
template <int W> [[gnu::always_inline]] inline void store_halves(Half* y, const typename Halves<W>::Wide& x) {
#if defined(__clang__)
  if constexpr (W > 16 || hardware_halves) {
    *reinterpret_cast<typename Halves<W>::Numbers*>(y) = __builtin_convertvector(x, typename Halves<W>::Numbers);
    return;
  }
#elif defined(__x86_64__) && defined(__GNUC__)
  if constexpr (W > 16) {
    asm("vcvtps2ph $0, %1, %0" : "=m"(*reinterpret_cast<typename Halves<W>::Stored*>(y)) : "v"(x));
    return;
  }
#elif defined(__aarch64__) && defined(__GNUC__)
  if constexpr (W == 16) {
    asm("fcvtn %0.4h, %1.4s" : "=w"(*reinterpret_cast<typename Halves<W>::Stored*>(y)) : "w"(x));
    return;
  }
#endif
  for (int j = 0; j < W / 4; j++) y[j] = Half(x[j]);
}

}  // namespace adjoint::cpu
