// What GCC and Clang spell differently.
#pragma once

// Before a loop: no iteration reads what another one writes, which a compiler cannot see of pointers.
#if defined(__clang__)
#define ADJOINT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define ADJOINT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define ADJOINT_INDEPENDENT
#endif

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed to functions that are inlined

namespace adjoint::cpu {

// Lane k of the result is lane mask[k] of a and b in a row.
template <class V, class M> [[gnu::always_inline]] inline V shuffle(const V& a, const V& b, const M& mask) {
#if defined(__clang__)
  constexpr int lanes = sizeof(V) / sizeof(a[0]);
  V r;
  for (int k = 0; k < lanes; k++) {
    const int from = static_cast<int>(mask[k]);
    r[k] = from < lanes ? a[from] : b[from - lanes];
  }
  return r;
#else
  return __builtin_shuffle(a, b, mask);
#endif
}

}  // namespace adjoint::cpu

// What the compiler knows of an integer or a pointer, so that it keeps it in a register instead of making it again.
#if defined(__GNUC__)
#define ADJOINT_OPAQUE(x) asm("" : "+r"(x))
#else
#define ADJOINT_OPAQUE(x)
#endif
