// Functions of floats in vectors of sixteen, where there is AVX-512: exponents, mantissas and the choice from a table of 32 numbers are single
// instructions there, and these forms take a half to a quarter of the time of those in core/math, which every machine compiles. Errors are up to
// 1.3 units in the last place (log10 and log2 beside 1, erfc, tan), mostly below 0.75.
#pragma once
#include <adjoint/core/functors/unary.h>

namespace adjoint::cpu {

// A functor's loop over n floats; `run` takes the functor's state.
template <class F> struct Sixteens { static constexpr bool exists = false; };

#if defined(__x86_64__) && defined(__GNUC__)

// name(y, x, n): y may be x.
namespace sixteens {
void cos(float* y, const float* x, int64_t n);
void erfc(float* y, const float* x, int64_t n);
void erfinv(float* y, const float* x, int64_t n);
void log(float* y, const float* x, int64_t n);
void log10(float* y, const float* x, int64_t n);
void log2(float* y, const float* x, int64_t n);
void logit(float* y, const float* x, int64_t n, float low, float high);
void sin(float* y, const float* x, int64_t n);
void tan(float* y, const float* x, int64_t n);
void tanh(float* y, const float* x, int64_t n);
}  // namespace sixteens

template <void (*f)(float*, const float*, int64_t)> struct Plain {
  static constexpr bool exists = true;
  static void run(float* y, const float* x, const void*, int64_t n) { f(y, x, n); }
};
template <> struct Sixteens<functors::Cos> : Plain<sixteens::cos> {};
template <> struct Sixteens<functors::Erfc> : Plain<sixteens::erfc> {};
template <> struct Sixteens<functors::Erfinv> : Plain<sixteens::erfinv> {};
template <> struct Sixteens<functors::Log> : Plain<sixteens::log> {};
template <> struct Sixteens<functors::Log10> : Plain<sixteens::log10> {};
template <> struct Sixteens<functors::Log2> : Plain<sixteens::log2> {};
template <> struct Sixteens<functors::Sin> : Plain<sixteens::sin> {};
template <> struct Sixteens<functors::Tan> : Plain<sixteens::tan> {};
template <> struct Sixteens<functors::Tanh> : Plain<sixteens::tanh> {};
template <> struct Sixteens<functors::Logit> {
  static constexpr bool exists = true;
  static void run(float* y, const float* x, const void* functor, int64_t n) {
    const float low = static_cast<float>(static_cast<const functors::Logit*>(functor)->eps);
    low < 0 ? sixteens::logit(y, x, n, -math::infinity<float>, math::infinity<float>) : sixteens::logit(y, x, n, low, 1 - low);
  }
};

#endif

}  // namespace adjoint::cpu
