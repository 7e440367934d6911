// Functions of doubles in vectors of eight, where there is AVX-512, as sixteens.h has them of floats. Errors are up to 0.6 units in the last
// place, of logit up to 1.
#pragma once
#include <adjoint/core/functors/unary.h>

namespace adjoint::cpu {

// A functor's loop over n doubles; `run` takes the functor's state.
template <class F> struct Eights { static constexpr bool exists = false; };

#if defined(__x86_64__) && defined(__GNUC__)

// name(y, x, n): y may be x.
namespace eights {
void erf(double* y, const double* x, int64_t n);
void exp(double* y, const double* x, int64_t n);
void log(double* y, const double* x, int64_t n);
void log10(double* y, const double* x, int64_t n);
void log2(double* y, const double* x, int64_t n);
void logit(double* y, const double* x, int64_t n, double low, double high);
}  // namespace eights

template <void (*f)(double*, const double*, int64_t)> struct PlainEights {
  static constexpr bool exists = true;
  static void run(double* y, const double* x, const void*, int64_t n) { f(y, x, n); }
};
template <> struct Eights<functors::Erf> : PlainEights<eights::erf> {};
template <> struct Eights<functors::Exp> : PlainEights<eights::exp> {};
template <> struct Eights<functors::Log> : PlainEights<eights::log> {};
template <> struct Eights<functors::Log10> : PlainEights<eights::log10> {};
template <> struct Eights<functors::Log2> : PlainEights<eights::log2> {};
template <> struct Eights<functors::Logit> {
  static constexpr bool exists = true;
  static void run(double* y, const double* x, const void* functor, int64_t n) {
    const double low = static_cast<const functors::Logit*>(functor)->eps;
    low < 0 ? eights::logit(y, x, n, -math::infinity<double>, math::infinity<double>) : eights::logit(y, x, n, low, 1 - low);
  }
};

#endif

}  // namespace adjoint::cpu
