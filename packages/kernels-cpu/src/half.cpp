// Half precision to float and back: F16C, which every x86-64-v3 has, what every ARM64 has, or bit operations.
#include "half.h"

#include "compilers.h"
#include "isa.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace adjoint::cpu {

namespace {

template <class To, class From> struct Bitwise {
  template <int W> [[gnu::always_inline]] static inline void run(To* y, const From* x, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = To(x[i]);
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
// Intrinsics cannot stand in a body that is compiled for several instruction sets.
[[gnu::target("arch=x86-64-v3")]] int64_t widen_eights(float* y, const Half* x, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  return i;
}
[[gnu::target("arch=x86-64-v3")]] int64_t narrow_eights(Half* y, const float* x, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
[[gnu::target("arch=x86-64-v4")]] int64_t widen_sixteens(float* y, const Half* x, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
  return i;
}
[[gnu::target("arch=x86-64-v4")]] int64_t narrow_sixteens(Half* y, const float* x, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
#elif defined(__aarch64__) && defined(__GNUC__)
int64_t widen_fours(float* y, const Half* x, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) *reinterpret_cast<Halves<16>::Wide*>(y + i) = load_halves<16>(x + i);
  return i;
}
int64_t narrow_fours(Half* y, const float* x, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) store_halves<16>(y + i, *reinterpret_cast<const Halves<16>::Wide*>(x + i));
  return i;
}
#endif

}  // namespace

void widen(float* y, const Half* x, int64_t n) {
  int64_t done = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if (isa::level >= isa::avx2) done = isa::level >= isa::avx512 ? widen_sixteens(y, x, n) : widen_eights(y, x, n);
#elif defined(__aarch64__) && defined(__GNUC__)
  done = widen_fours(y, x, n);
#endif
  isa::call<Bitwise<float, Half>>(y + done, x + done, n - done);
}
void narrow(Half* y, const float* x, int64_t n) {
  int64_t done = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if (isa::level >= isa::avx2) done = isa::level >= isa::avx512 ? narrow_sixteens(y, x, n) : narrow_eights(y, x, n);
#elif defined(__aarch64__) && defined(__GNUC__)
  done = narrow_fours(y, x, n);
#endif
  isa::call<Bitwise<Half, float>>(y + done, x + done, n - done);
}

}  // namespace adjoint::cpu
