// Elementwise functions of one operand.
#include <adjoint/core/functors/complex.h>
#include <adjoint/core/functors/special.h>
#include <adjoint/core/functors/unary.h>
#include <adjoint/core/functors/activation.h>
#include <adjoint/core/math/bessel_oscillating.h>
#include <adjoint/core/math/bessel_plain.h>
#include <adjoint/core/math/bessel_short.h>

#include "by_bits.h"
#include "complex_functions.h"
#include "elementwise.h"

namespace adjoint::cpu {

using namespace functors;

template <std::floating_point C> struct Moderate<Sin, C> {
  static constexpr bool exists = true;
  [[gnu::always_inline]] static inline bool hard(C x) { return math::is_large(x); }
  struct Form { C operator()(C x) const { return math::sin_moderate(x); } };
};
template <std::floating_point C> struct Moderate<Cos, C> : Moderate<Sin, C> {
  struct Form { C operator()(C x) const { return math::cos_moderate(x); } };
};
template <std::floating_point C> struct Moderate<Tan, C> : Moderate<Sin, C> {
  struct Form { C operator()(C x) const { return math::tan_moderate(x); } };
};
template <> struct Moderate<Lgamma, float> {
  static constexpr bool exists = true;
  [[gnu::always_inline]] static inline bool hard(float x) { return math::is_hard_for_gamma(x); }
  struct Form { float operator()(float x) const { return math::lgamma_moderate(x); } };
};
template <> struct Moderate<Digamma, float> : Moderate<Lgamma, float> {
  struct Form { float operator()(float x) const { return math::digamma_moderate(x); } };
};
template <> struct Partial<Lgamma, double> {
  static constexpr bool exists = true;
  struct Form { double operator()(double x) const { return math::lgamma_partial(x); } };
};
template <> struct Partial<Ndtri, double> {
  static constexpr bool exists = true, narrow = true;
  struct Form { double operator()(double x) const { return math::ndtri_partial(x); } };
};
// As fast as memory, or far ahead: without a copy for the widest vectors.
struct OnlyNarrow { static constexpr bool exists = false, narrow = true; };
template <std::floating_point C> struct Moderate<Entr, C> : OnlyNarrow {};
template <std::floating_point C> struct Moderate<LogNdtr, C> : OnlyNarrow {};
template <std::floating_point C> struct Moderate<Exponent, C> : OnlyNarrow {};
template <std::floating_point C> struct Moderate<Mantissa, C> : OnlyNarrow {};

struct Trigamma { float operator()(float x) const { return math::trigamma(x); } };
template <> struct Moderate<Trigamma, float> : Moderate<Lgamma, float> {
  static constexpr bool narrow = true;
  struct Form { float operator()(float x) const { return math::trigamma_moderate(x); } };
};

// Bessel functions of a whole order that oscillate, and their forms for floats.
template <double (*exact)(int, double), float (*form)(float), int n> struct Oscillating {
  float operator()(float x) const { return static_cast<float>(exact(n, static_cast<double>(x))); }
};
template <double (*exact)(int, double), float (*form)(float), int n> struct Moderate<Oscillating<exact, form, n>, float> {
  static constexpr bool exists = true;
  [[gnu::always_inline]] static inline bool hard(float x) { return math::is_large(x); }
  struct Form { float operator()(float x) const { return form(x); } };
};
template <int n> using J = Oscillating<math::bessel_j, math::bessel_j_short<n>, n>;
template <int n> using Y = Oscillating<math::bessel_y, math::bessel_y_short<n>, n>;

template <class F> requires (std::is_same_v<F, Ceil> || std::is_same_v<F, Floor> || std::is_same_v<F, Round> || std::is_same_v<F, Trunc>)
struct Instruction<F> {
  static constexpr bool exists = true;
  template <std::floating_point T> T operator()(T x) const {
    if constexpr (std::is_same_v<F, Ceil>) return static_cast<T>(sizeof(T) == 4 ? __builtin_ceilf(static_cast<float>(x)) : __builtin_ceil(x));
    else if constexpr (std::is_same_v<F, Floor>) return static_cast<T>(sizeof(T) == 4 ? __builtin_floorf(static_cast<float>(x)) : __builtin_floor(x));
    else if constexpr (std::is_same_v<F, Round>) return static_cast<T>(sizeof(T) == 4 ? __builtin_rintf(static_cast<float>(x)) : __builtin_rint(x));
    else return static_cast<T>(sizeof(T) == 4 ? __builtin_truncf(static_cast<float>(x)) : __builtin_trunc(x));
  }
};
template <> struct Instruction<Frac> : Instruction<Trunc> {
  template <std::floating_point T> T operator()(T x) const { return x - Instruction<Trunc>::operator()(x); }
};
template <> constexpr bool keeps_halves<Ceil> = true;
template <> constexpr bool keeps_halves<Floor> = true;
template <> constexpr bool keeps_halves<Round> = true;
template <> constexpr bool keeps_halves<Trunc> = true;

namespace {

constexpr Cost cheap = Cost::cheap;

// Forms for floats; most are far ahead without a copy for the widest vectors.
template <float (*f)(float, double), bool is_narrow = true> struct Short {
  static constexpr bool narrow = is_narrow;
  double scaled;
  explicit Short(const Attrs& a) : scaled(static_cast<double>(a.as<Order>().n)) {}
  float operator()(float x) const { return f(x, scaled); }
};

// Functions of an order: those of the first orders that have a form for floats, the others from core.
template <bool scaled, class... Orders> void by_order(const Launch& l) {
  const int64_t n = l.attrs.as<Order>().n;
  const DType type = l.x[0].dtype;
  const Attrs attrs = Order{scaled};
  const Launch launch{l.x, l.y, attrs, l.op, l.flat};
  int64_t order = 0;
  const bool found = (is_half(type) || type == DType::float32) && ((n == order++ && (kernel_for<Orders, 1, Cost::series, float, Half, BFloat16>(launch), true)) || ...);
  if (!found) reference(l);
}

// In double, those of order 0 and 1, and erfcx of order 0.
template <int n, bool scaled> struct PlainBessel {
  static constexpr bool narrow = true;
  template <std::same_as<double> T> T operator()(T x) const { return math::bessel_i_plain<n>(x, scaled); }
};
struct PlainErfcx {
  static constexpr bool narrow = true;
  template <std::same_as<double> T> T operator()(T x) const { return math::erfcx_plain(x); }
};
template <Kernel otherwise, class... Orders> void plain_kernel(const Launch& l) {
  int64_t order = 0;
  const int64_t n = l.attrs.as<Order>().n;
  const bool found = l.x[0].dtype == DType::float64 && ((n == order++ && (kernel_for<Orders, 1, Cost::series, double>(l), true)) || ...);
  if (!found) otherwise(l);
}

// Core has its own of doubles out of line.
struct WideLogNdtr {
  static constexpr bool narrow = true;
  template <std::same_as<double> T> T operator()(T x) const { return math::log_ndtr<false>(x); }
};
void log_ndtr_kernel(const Launch& l) {
  l.x[0].dtype == DType::float64 ? kernel_for<WideLogNdtr, 1, Cost::series, double>(l) : kernel_for<LogNdtr, 1, Cost::series, float, Half, BFloat16>(l);
}

// Halves are not widened for their sign.
struct Signs {
  static constexpr bool narrow = true;
  uint16_t kept, turned;
  template <std::same_as<uint16_t> T> T operator()(T x) const { return static_cast<T>((x & kept) ^ turned); }
};
template <class F, bool clears> void sign_kernel(const Launch& l) {
  if (!is_half(l.y[0].dtype)) return kernel_for<F, 1, cheap, float, double, Complex<float>, Complex<double>, int32_t, int64_t>(l);
  View y = l.y[0];
  y.dtype = DType::uint16;
  run_bits<Signs, 1, uint16_t>(l, y, clears ? Signs{0x7fff, 0} : Signs{0xffff, 0x8000});
}
struct Sinc0 {
  static constexpr bool narrow = true;
  template <Real T> T operator()(T x) const { return math::sinc_short(x); }
};
struct Sinc1 {
  static constexpr bool narrow = true;
  float operator()(float x) const { return math::sinc_slope_short(x); }
};
void sinc_kernel(const Launch& l) {
  const int64_t n = l.attrs.as<Order>().n;
  const bool is_short = is_half(l.x[0].dtype) || l.x[0].dtype == DType::float32;
  if (n == 0 && l.x[0].dtype == DType::complex64) return kernel_for<Sinc, 1, Cost::series, Complex<float>>(l);
  if (n == 1 && l.x[0].dtype == DType::complex64) return kernel_for<SincSlope, 1, Cost::series, Complex<float>>(l);
  if (n == 0) return kernel_for<Sinc0, 1, Cost::series, float, double, Half, BFloat16>(l);
  if (n == 1 && is_short) return kernel_for<Sinc1, 1, Cost::series, float, Half, BFloat16>(l);
  reference(l);
}
void polygamma_kernel(const Launch& l) {
  if (l.attrs.as<Order>().n != 1) return reference(l);
  kernel_for<Trigamma, 1, Cost::series, float, Half, BFloat16>(l);
}
using I0 = Short<math::bessel_i0_short>;
using I1 = Short<math::bessel_i1_short, false>;
using I2 = Short<math::bessel_i2_short>;
using K0 = Short<math::bessel_k0_short>;
using K1 = Short<math::bessel_k1_short>;

constexpr Entry entries[] = {
    {"abs", sign_kernel<Abs, true>},
    {"acos", kernel<Acos, 1>},
    {"acosh", kernel<Acosh, 1>},
    {"angle", kernel<Angle, 1>},
    {"asin", kernel<Asin, 1>},
    {"asinh", kernel<Asinh, 1>},
    {"atan", kernel<Atan, 1>},
    {"atanh", kernel<Atanh, 1>},
    {"bessel_i", plain_kernel<by_order<false, I0, I1, I2>, PlainBessel<0, false>, PlainBessel<1, false>>},
    {"bessel_i_scaled", plain_kernel<by_order<true, I0, I1, I2>, PlainBessel<0, true>, PlainBessel<1, true>>},
    {"bessel_j", by_order<false, J<0>, J<1>>},
    {"bessel_k", by_order<false, K0, K1>},
    {"bessel_k_scaled", by_order<true, K0, K1>},
    {"bessel_y", by_order<false, Y<0>, Y<1>>},
    {"ceil", kernel<Ceil, 1, cheap>},
    {"conj", kernel<Conj, 1, cheap>},
    {"cos", kernel<Cos, 1>},
    {"cosh", kernel<Cosh, 1>},
    {"deg2rad", kernel<Deg2rad, 1, cheap>},
    {"digamma", kernel_for<Digamma, 1, Cost::series, float, Half, BFloat16>},
    {"entr", kernel<Entr, 1>},
    {"erf", kernel<Erf, 1>},
    {"erf_derivative", kernel<ErfDerivative, 2>},
    {"erfc", kernel<Erfc, 1>},
    {"erfcx", plain_kernel<by_order<false, Short<math::erfcx_short<0>>, Short<math::erfcx_short<1>>>, PlainErfcx>},
    {"erfinv", kernel<Erfinv, 1>},
    {"exp", kernel<Exp, 1>},
    {"exp2", kernel<Exp2, 1>},
    {"expm1", kernel<Expm1, 1>},
    {"exponent", kernel_for<Exponent, 1, cheap, float, double, Half, BFloat16>},
    {"floor", kernel<Floor, 1, cheap>},
    {"frac", kernel<Frac, 1, cheap>},
    {"isfinite", kernel<IsFinite, 1, cheap>},
    {"isinf", kernel<IsInf, 1, cheap>},
    {"isnan", kernel<IsNan, 1, cheap>},
    {"lgamma", kernel_for<Lgamma, 1, Cost::series, float, double, Half, BFloat16>},
    {"log", kernel<Log, 1>},
    {"log10", kernel<Log10, 1>},
    {"log1p", kernel<Log1p, 1>},
    {"log2", kernel<Log2, 1>},
    {"log_ndtr", log_ndtr_kernel},
    {"logit", kernel<Logit, 1>},
    {"mantissa", kernel_for<Mantissa, 1, cheap, float, double, Half, BFloat16>},
    {"nan_to_num", kernel<NanToNum, 1, cheap>},
    {"ndtri", kernel<Ndtri, 1>},
    {"neg", sign_kernel<Neg, false>},
    {"polygamma", polygamma_kernel},
    {"rad2deg", kernel<Rad2deg, 1, cheap>},
    {"reciprocal", kernel<Reciprocal, 1, cheap>},
    {"round", kernel<Round, 1, cheap>},
    {"round_decimals", kernel<RoundDecimals, 1, cheap>},
    {"rsqrt", kernel<Rsqrt, 1>},
    {"sgn", kernel<Sign, 1, cheap>},
    {"sign", kernel<Sign, 1, cheap>},
    {"sin", kernel<Sin, 1>},
    {"sinc", sinc_kernel},
    {"sinh", kernel<Sinh, 1>},
    {"sqrt", kernel<Sqrt, 1>},
    {"square", kernel<Square, 1, cheap>},
    {"tan", kernel<Tan, 1>},
    {"tanh", kernel<Tanh, 1>},
    {"tanh_derivative", kernel<TanhDerivative, 2>},
    {"trunc", kernel<Trunc, 1, cheap>},
};

}  // namespace

void magnitudes(const View& y, const View& x) { kernel<Abs, 1, cheap>({{&x, 1}, {&y, 1}, {}, "abs"}); }

Entries unary_kernels() { return entries; }

}  // namespace adjoint::cpu
