// The loops behind complex_functions.h.
#include "complex_functions.h"

#include "complex_forms.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t most = 128;  // elements of a tile

// Parts of the operands, then of the results, which take the place of the first.
struct Tile {
  alignas(64) double re[2][most], im[2][most];
  alignas(64) int64_t hard[most];
  int64_t any;  // not 0 where one is hard
};

template <class F, int N> struct Evaluate {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(Tile* t, int64_t n) {
    int64_t any = 0;
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      forms::Form f;
      if constexpr (N == 1) f = forms::Of<F>::at(t->re[0][i], t->im[0][i]);
      else f = forms::Of<F>::at(t->re[0][i], t->im[0][i], t->re[1][i], t->im[1][i]);
      const int64_t hard = f.hard;
      t->re[0][i] = f.re, t->im[0][i] = f.im, t->hard[i] = hard;
      any |= hard;
    }
    t->any = any;
  }
};

template <class R> struct LoadParts {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const Complex<R>* x, double* re, double* im, int64_t n) {
    for (int64_t i = 0; i < n; i++) re[i] = x[i].re, im[i] = x[i].im;
  }
};
template <class R> struct StoreParts {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(Complex<R>* y, const double* re, const double* im, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = {static_cast<R>(re[i]), static_cast<R>(im[i])};
  }
};

// What is hard, by the function itself.
template <class F, class C, int N> void exactly(Tile& t, const C* const* x, const void* functor, int64_t n) {
  const F& f = *static_cast<const F*>(functor);
  for (int64_t i = 0; i < n; i++) {
    if (!t.hard[i]) continue;
    C y;
    if constexpr (N == 1) y = f(x[0][i]);
    else y = f(x[0][i], x[1][i]);
    t.re[0][i] = y.re, t.im[0][i] = y.im;
  }
}

// y may be one of x.
template <class C> void by_tiles(C* y, const C* const* operands, int count, int64_t n, void (*evaluate)(Tile*, int64_t), void (*exact)(Tile&, const C* const*, const void*, int64_t), const void* functor) {
  using R = real_t<C>;
  Tile t;
  for (int64_t at = 0; at < n; at += most) {
    const int64_t m = std::min(most, n - at), whole = (m + 7) & -8;
    const C* const x[] = {operands[0] + at, count == 2 ? operands[1] + at : nullptr};
    for (int k = 0; k < count; k++) {
      isa::call<LoadParts<R>>(x[k], static_cast<double*>(t.re[k]), static_cast<double*>(t.im[k]), m);
      for (int64_t i = m; i < whole; i++) t.re[k][i] = t.re[k][0], t.im[k][i] = t.im[k][0];
    }
    evaluate(&t, whole);
    if (t.any) exact(t, x, functor, m);
    isa::call<StoreParts<R>>(y + at, static_cast<const double*>(t.re[0]), static_cast<const double*>(t.im[0]), m);
  }
}

}  // namespace

template <class F, class C, int N> Loop loop_by_parts() {
  return [](char* y, const char* const* x, const void* functor, int64_t n) {
    by_tiles(reinterpret_cast<C*>(y), reinterpret_cast<const C* const*>(x), N, n, isa::at_level<Evaluate<F, N>, Tile*, int64_t>(), exactly<F, C, N>, functor);
  };
}

#define OF_FLOATS(F, N) template Loop loop_by_parts<functors::F, Complex<float>, N>();
#define OF_ALL(F, N) OF_FLOATS(F, N) template Loop loop_by_parts<functors::F, Complex<double>, N>();
OF_ALL(Acos, 1) OF_ALL(Acosh, 1) OF_ALL(Asin, 1) OF_ALL(Asinh, 1) OF_ALL(Atan, 1) OF_ALL(Atanh, 1) OF_ALL(Cos, 1) OF_ALL(Cosh, 1) OF_ALL(Exp, 1) OF_ALL(Exp2, 1) OF_ALL(Expm1, 1)
OF_ALL(Log, 1) OF_ALL(Log10, 1) OF_ALL(Log1p, 1) OF_ALL(Log2, 1) OF_ALL(Pow, 2) OF_ALL(Rsqrt, 1) OF_ALL(Sigmoid, 1) OF_ALL(SigmoidDerivative, 2) OF_ALL(Silu, 1)
OF_ALL(SiluDerivative, 2) OF_ALL(Sin, 1) OF_ALL(Sinh, 1) OF_ALL(Sqrt, 1) OF_ALL(Tan, 1) OF_ALL(Tanh, 1) OF_ALL(TanhDerivative, 2)
OF_FLOATS(Div, 2) OF_FLOATS(Reciprocal, 1) OF_FLOATS(Sinc, 1)
template Loop loop_by_parts<SincSlope, Complex<float>, 1>();

}  // namespace adjoint::cpu
