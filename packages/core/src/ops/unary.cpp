// Elementwise ops with one operand. Rules avoid differences of nearly equal numbers, and squares that overflow.
#include <adjoint/core/batch.h>
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/activation.h>
#include <adjoint/core/functors/unary.h>
#include <adjoint/core/types.h>

#include <limits>

#include "families.h"
#include "keep.h"
#include "releasing.h"

namespace adjoint {

namespace {

constexpr double pi = 3.141592653589793, ln2 = 0.6931471805599453, ln10 = 2.302585092994046;

Types negated(Tensors x, const Attrs& a) {
  expect(x[0].dtype() != DType::bool_, "neg: Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  return types::promoted(x, a);
}
Types signed_type(Tensors x, const Attrs& a) {
  expect(!is_complex(x[0].dtype()), ErrorKind::not_implemented, "sign: Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.");
  return types::promoted(x, a);
}
Types real_angle(Tensors x, const Attrs& a) {
  expect(!is_complex(x[0].dtype()), "rad2deg, deg2rad: not supported for complex tensors, got ", x[0].dtype());
  return types::floating(x, a);
}
Types squared(Tensors x, const Attrs&) { return all(x[0].dtype() == DType::bool_ ? DType::int64 : result_type(x)); }

// sqrt(1 + x^2): hypot where there is one, as x^2 overflows early, in half types above all.
Tensor one_and_square(const Tensor& x) { return is_complex(x.dtype()) ? sqrt(x * x + 1.) : hypot(x, wrapped(1.)); }

// (v - y Re(conj(y) v)) / |x|: what of v turns the direction y = sgn(x). A number has but two directions.
Tensor turn(const Tensor& v, const Tensor& x, const Tensor& y) {
  if (!is_complex(x.dtype())) return zeros_like(v);
  const Tensor r = abs(x), none = eq(r, wrapped(0.));
  return drop(none, (v - y * real(conj(y) * v)) / where(none, wrapped(1.), r));
}

}  // namespace

// ---- sign and size

const Op op_neg{.name = "neg", .types = negated,
    .d = {rule([](V v) { return -v; })},
    .doc = "Minus each element of `x`.", .reference = elementwise<functors::Neg, 1>};
Tensor neg(const Tensor& x) { return apply(op_neg, {x}); }

const Op op_abs{.name = "abs", .kind = Kind::custom, .types = types::real_part,
    .d = {rule([](V v, X<0> x) { return v * sgn(x); })}, .t = {rule([](V v, X<0> x) { return is_complex(x.dtype()) ? real(v * conj(sgn(x))) : v * sgn(x); })}, .batch = batch::leading,
    .doc = "Absolute value of each element of `x`; derivative 0 at 0.", .reference = elementwise<functors::Abs, 1>};
Tensor abs(const Tensor& x) { return apply(op_abs, {x}); }

const Op op_sign{.name = "sign", .types = signed_type,
    .d = {rule([](V v) { return zeros_like(v); })},
    .doc = "Sign of each element of `x`: -1, 0 or 1.", .reference = elementwise<functors::Sign, 1>};
Tensor sign(const Tensor& x) { return apply(op_sign, {x}); }

const Op op_sgn{.name = "sgn", .kind = Kind::custom, .types = types::promoted,
    .d = {rule([](V v, X<0> x, Y<> y) { return turn(v, x, y); })}, .t = {rule([](V v, X<0> x, Y<> y) { return turn(v, x, y); })}, .batch = batch::leading,
    .doc = "`x / abs(x)` for each element of `x`, 0 for 0.", .reference = elementwise<functors::Sign, 1>};
Tensor sgn(const Tensor& x) { return apply(op_sgn, {x}); }

const Op op_square{.name = "square", .torch = "Pow|||exponent=2", .types = squared,
    .d = {rule([](V v, X<0> x) { return v * twice(x); })},
    .doc = "Square of each element of `x`.", .reference = elementwise<functors::Square, 1>};
Tensor square(const Tensor& x) { return apply(op_square, {x}); }

const Op op_reciprocal{.name = "reciprocal", .types = types::floating,
    .d = {wide_rule([](V v, Y<> y) { return -(v * y * y); })},
    .doc = "1 divided by each element of `x`.", .reference = elementwise<functors::Reciprocal, 1>};
Tensor reciprocal(const Tensor& x) { return apply(op_reciprocal, {x}); }

// ---- exponentials, logarithms, roots

const Op op_exp{.name = "exp", .types = types::floating,
    .d = {rule([](V v, Y<> y) { return v * y; })},
    .doc = "e to the power of each element of `x`.", .reference = elementwise<functors::Exp, 1>};
Tensor exp(const Tensor& x) { return apply(op_exp, {x}); }

const Op op_exp2{.name = "exp2", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { const Tensor root = exp2(x * 0.5); return v * (root * ln2) * root; })},  // 2^x overflows, and loses bits, before the derivative does
    .doc = "2 to the power of each element of `x`.", .reference = elementwise<functors::Exp2, 1>};
Tensor exp2(const Tensor& x) { return apply(op_exp2, {x}); }

const Op op_expm1{.name = "expm1", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v * exp(x); })},
    .doc = "`exp(x) - 1`, accurate for small `x`.", .reference = elementwise<functors::Expm1, 1>};
Tensor expm1(const Tensor& x) { return apply(op_expm1, {x}); }

const Op op_log{.name = "log", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v / x; })},
    .doc = "Natural logarithm of each element of `x`.", .reference = elementwise<functors::Log, 1>};
Tensor log(const Tensor& x) { return apply(op_log, {x}); }

const Op op_log2{.name = "log2", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return v / ln2 / x; })},
    .doc = "Logarithm to base 2 of each element of `x`.", .reference = elementwise<functors::Log2, 1>};
Tensor log2(const Tensor& x) { return apply(op_log2, {x}); }

const Op op_log10{.name = "log10", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return v / ln10 / x; })},
    .doc = "Logarithm to base 10 of each element of `x`.", .reference = elementwise<functors::Log10, 1>};
Tensor log10(const Tensor& x) { return apply(op_log10, {x}); }

const Op op_log1p{.name = "log1p", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v / (x + 1.); })},
    .doc = "`log(1 + x)`, accurate for small `x`.", .reference = elementwise<functors::Log1p, 1>};
Tensor log1p(const Tensor& x) { return apply(op_log1p, {x}); }

const Op op_sqrt{.name = "sqrt", .types = types::floating,
    .d = {rule([](V v, Y<> y) { return v / (y * 2.); })},
    .doc = "Square root of each element of `x`.", .reference = elementwise<functors::Sqrt, 1>};
Tensor sqrt(const Tensor& x) { return apply(op_sqrt, {x}); }

const Op op_rsqrt{.name = "rsqrt", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor y = rsqrt(x);
      return v * (y * -.5) * y * y;
    })},
    .doc = "1 divided by the square root of each element of `x`.", .reference = elementwise<functors::Rsqrt, 1>};
Tensor rsqrt(const Tensor& x) { return apply(op_rsqrt, {x}); }

// ---- rounding

const Op op_floor{.name = "floor", .types = types::promoted,
    .d = {rule([](V v) { return zeros_like(v); })},
    .doc = "The largest integer not above each element of `x`.", .reference = elementwise<functors::Floor, 1>};
Tensor floor(const Tensor& x) { return apply(op_floor, {x}); }

const Op op_ceil{.name = "ceil", .types = types::promoted,
    .d = {rule([](V v) { return zeros_like(v); })},
    .doc = "The smallest integer not below each element of `x`.", .reference = elementwise<functors::Ceil, 1>};
Tensor ceil(const Tensor& x) { return apply(op_ceil, {x}); }

const Op op_round{.name = "round", .types = types::promoted,
    .d = {rule([](V v) { return zeros_like(v); })},
    .doc = "The nearest integer to each element of `x`, halves to even.", .reference = elementwise<functors::Round, 1>};
Tensor round(const Tensor& x) { return apply(op_round, {x}); }
const Op op_round_decimals{.name = "round_decimals", .torch = "Round", .fields = fields_of<Factors>, .types = types::floating,
    .d = {rule([](V v) { return zeros_like(v); })},
    .doc = "The nearest multiple to each element of `x`, of the scale `a` where `b` is positive, else of `1 / a`.", .reference = elementwise<functors::RoundDecimals, 1>};

const Op op_trunc{.name = "trunc", .types = types::promoted,
    .d = {rule([](V v) { return zeros_like(v); })},
    .doc = "Each element of `x` without its fraction.", .reference = elementwise<functors::Trunc, 1>};
Tensor trunc(const Tensor& x) { return apply(op_trunc, {x}); }

const Op op_frac{.name = "frac", .types = types::promoted,
    .d = {rule([](V v) -> Tensor { return v; })},
    .doc = "The fraction of each element of `x`, with its sign.", .reference = elementwise<functors::Frac, 1>};
Tensor frac(const Tensor& x) { return apply(op_frac, {x}); }

// ---- trigonometric and hyperbolic

const Op op_sin{.name = "sin", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v * cos(x); })},
    .doc = "Sine of each element of `x` (radians).", .reference = elementwise<functors::Sin, 1>};
Tensor sin(const Tensor& x) { return apply(op_sin, {x}); }

const Op op_cos{.name = "cos", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return -(v * sin(x)); })},
    .doc = "Cosine of each element of `x` (radians).", .reference = elementwise<functors::Cos, 1>};
Tensor cos(const Tensor& x) { return apply(op_cos, {x}); }

const Op op_tan{.name = "tan", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor y = tan(x);
      return v * (y * y + 1.);
    })},
    .doc = "Tangent of each element of `x` (radians).", .reference = elementwise<functors::Tan, 1>};
Tensor tan(const Tensor& x) { return apply(op_tan, {x}); }

const Op op_asin{.name = "asin", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return v * rsqrt((1. - x) * (x + 1.)); })},
    .doc = "Arcsine of each element of `x`.", .reference = elementwise<functors::Asin, 1>};
Tensor asin(const Tensor& x) { return apply(op_asin, {x}); }

const Op op_acos{.name = "acos", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return -(v * rsqrt((1. - x) * (x + 1.))); })},
    .doc = "Arccosine of each element of `x`.", .reference = elementwise<functors::Acos, 1>};
Tensor acos(const Tensor& x) { return apply(op_acos, {x}); }

const Op op_atan{.name = "atan", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor h = one_and_square(x);
      return v / h / h;
    })},
    .doc = "Arctangent of each element of `x`.", .reference = elementwise<functors::Atan, 1>};
Tensor atan(const Tensor& x) { return apply(op_atan, {x}); }

const Op op_sinh{.name = "sinh", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v * cosh(x); })},
    .doc = "Hyperbolic sine of each element of `x`.", .reference = elementwise<functors::Sinh, 1>};
Tensor sinh(const Tensor& x) { return apply(op_sinh, {x}); }

const Op op_cosh{.name = "cosh", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v * sinh(x); })},
    .doc = "Hyperbolic cosine of each element of `x`.", .reference = elementwise<functors::Cosh, 1>};
Tensor cosh(const Tensor& x) { return apply(op_cosh, {x}); }

const Op op_tanh{.name = "tanh", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return tanh_derivative(v, x); })},
    .doc = "Hyperbolic tangent of each element of `x`.", .reference = elementwise<functors::Tanh, 1>};
Tensor tanh(const Tensor& x) { return apply(op_tanh, {x}); }

const Op op_tanh_derivative{.name = "tanh_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x) { return tanh_derivative(v, x); }), wide_rule([](V v, X<0> a, X<1> x) { return tanh_derivative(v * a, x) * tanh(x) * -2.; })},
    .doc = "`v` times the derivative of tanh at `x`.", .reference = elementwise<functors::TanhDerivative, 2>};
Tensor tanh_derivative(const Tensor& v, const Tensor& x) { return apply(op_tanh_derivative, {v, x}); }

const Op op_asinh{.name = "asinh", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return v / one_and_square(x); })},
    .doc = "Inverse hyperbolic sine of each element of `x`.", .reference = elementwise<functors::Asinh, 1>};
Tensor asinh(const Tensor& x) { return apply(op_asinh, {x}); }

const Op op_acosh{.name = "acosh", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return v / (sqrt(x - 1.) * sqrt(x + 1.)); })},
    .doc = "Inverse hyperbolic cosine of each element of `x`.", .reference = elementwise<functors::Acosh, 1>};
Tensor acosh(const Tensor& x) { return apply(op_acosh, {x}); }

const Op op_atanh{.name = "atanh", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) { return v / ((1. - x) * (x + 1.)); })},
    .doc = "Inverse hyperbolic tangent of each element of `x`.", .reference = elementwise<functors::Atanh, 1>};
Tensor atanh(const Tensor& x) { return apply(op_atanh, {x}); }

// ---- special functions

const Op op_erf{.name = "erf", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return erf_derivative(v, x); })},
    .doc = "Error function of each element of `x`.", .reference = elementwise<functors::Erf, 1>};
Tensor erf(const Tensor& x) { return apply(op_erf, {x}); }

const Op op_erfc{.name = "erfc", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return -erf_derivative(v, x); })},
    .doc = "`1 - erf(x)`, accurate for large `x`.", .reference = elementwise<functors::Erfc, 1>};
Tensor erfc(const Tensor& x) { return apply(op_erfc, {x}); }

const Op op_erf_derivative{.name = "erf_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x) { return erf_derivative(v, x); }), wide_rule([](V v, X<0> a, X<1> x) { return erf_derivative(v * a, x) * (x * -2.); })},
    .doc = "`v` times the derivative of erf at `x`.", .reference = elementwise<functors::ErfDerivative, 2>};
Tensor erf_derivative(const Tensor& v, const Tensor& x) { return apply(op_erf_derivative, {v, x}); }

const Op op_erfinv{.name = "erfinv", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor y = erfinv(x);
      return v * (exp(y * y) * 0.886226925452758);
    })},
    .doc = "Inverse of the error function of each element of `x`.", .reference = elementwise<functors::Erfinv, 1>};
Tensor erfinv(const Tensor& x) { return apply(op_erfinv, {x}); }

// 2^-exponent, by which x became its mantissa, as their quotient.
const Op op_mantissa{.name = "mantissa", .torch = "Frexp", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, Y<> y) { return v * where(logical_and(isfinite(x), ne(x, wrapped(0))), y / x, ones_like(x)); })},
    .doc = "Each element of `x` times the power of two that brings its size into [1/2, 1).", .reference = elementwise<functors::Mantissa, 1>};
struct WholeExponent {   // as wide as the loops of integers
  template <functors::Real T> int64_t operator()(T x) const { return functors::Exponent{}(x); }
};
const Op op_exponent{.name = "exponent", .types = [](Tensors x, const Attrs&) -> Types { return {x[0].dtype(), {DType::int32}}; },
    .doc = "The power of two that `mantissa` takes from each element of `x`: int32.", .reference = elementwise<WholeExponent, 1>};
Tensor mantissa(const Tensor& x) { return apply(op_mantissa, {x}); }
Tensor exponent(const Tensor& x) { return apply(op_exponent, {x}); }

const Op op_lgamma{.name = "lgamma", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v * digamma(x); })},
    .doc = "Logarithm of the absolute value of the gamma function of each element of `x`.", .reference = elementwise<functors::Lgamma, 1>};
Tensor lgamma(const Tensor& x) { return apply(op_lgamma, {x}); }

const Op op_digamma{.name = "digamma", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return v * polygamma(1, x); })},
    .doc = "Derivative of lgamma at each element of `x`.", .reference = elementwise<functors::Digamma, 1>};
Tensor digamma(const Tensor& x) { return apply(op_digamma, {x}); }

const Op op_polygamma{.name = "polygamma", .fields = fields_of<Order>, .types = types::floating,
    .d = {rule([](V v, X<0> x, const Order& a) { return v * polygamma(a.n + 1, x); })},
    .doc = "The n-th derivative of digamma at each element of `x`.", .reference = elementwise<functors::Polygamma, 1>};
Tensor polygamma(int64_t n, const Tensor& x) {
  expect(n >= 0, "polygamma: polygamma(n, x) does not support negative n, got ", n);
  return apply(op_polygamma, {x}, Order{n});
}

// sinc(x) = j_0(pi x), and j_n' = (n j_(n-1) - (n + 1) j_(n+1)) / (2n + 1) needs no division by x: right at 0 in every order.
static Tensor sinc_order(int64_t n, const Tensor& x);
const Op op_sinc{.name = "sinc", .fields = fields_of<Order>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Order& a) {
      if (a.n == 0) return v * (sinc_order(1, x) * -pi);
      const double scale = pi / (2. * a.n + 1);
      return v * (sinc_order(a.n - 1, x) * (a.n * scale) - sinc_order(a.n + 1, x) * ((a.n + 1) * scale));
    })},
    .doc = "`sin(pi x) / (pi x)` for each element of `x`, 1 at 0.", .reference = elementwise<functors::Sinc, 1>};
static Tensor sinc_order(int64_t n, const Tensor& x) { return apply(op_sinc, {x}, Order{n}); }
Tensor sinc(const Tensor& x) { return sinc_order(0, x); }

const Op op_logit{.name = "logit", .torch = "|||eps?", .fields = fields_of<Epsilon>, .types = types::floating,
    .d = {wide_rule([](V v, X<0> x, const Epsilon& a) {
      const bool clamped = a.eps >= 0;
      const double low = clamped ? a.eps : 0;
      const Tensor outside = logical_or(lt(x, wrapped(low)), gt(x, wrapped(1 - low)));
      return where(outside, wrapped(clamped ? 0. : std::numeric_limits<double>::quiet_NaN()), v / (x * (1. - x)));
    })},
    .doc = "`log(x / (1 - x))` for each element of `x`, clamped to [eps, 1 - eps] if eps is not negative.", .reference = elementwise<functors::Logit, 1>};
Tensor logit(const Tensor& x, std::optional<double> eps) { return apply(op_logit, {x}, Epsilon{eps.value_or(-1)}); }

// ---- units and replacements

const Op op_rad2deg{.name = "rad2deg", .types = real_angle,
    .d = {rule([](V v) { return rad2deg(v); })},
    .doc = "Each element of `x` from radians to degrees.", .reference = elementwise<functors::Rad2deg, 1>};
Tensor rad2deg(const Tensor& x) { return apply(op_rad2deg, {x}); }

const Op op_deg2rad{.name = "deg2rad", .types = real_angle,
    .d = {rule([](V v) { return deg2rad(v); })},
    .doc = "Each element of `x` from degrees to radians.", .reference = elementwise<functors::Deg2rad, 1>};
Tensor deg2rad(const Tensor& x) { return apply(op_deg2rad, {x}); }

const Op op_nan_to_num{.name = "nan_to_num", .fields = fields_of<Replacements>, .types = types::first,
    .d = {rule([](V v, X<0> x) { return keep(isfinite(x), v); })},
    .doc = "Each element of `x`, NaN and infinities replaced by numbers; derivative 0 there.", .reference = elementwise<functors::NanToNum, 1>};
Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> positive, std::optional<double> negative) {
  const double most = largest_number(x.dtype());
  return apply(op_nan_to_num, {x}, Replacements{nan, positive.value_or(most), negative.value_or(-most)});
}

// ---- tests and logic

const Op op_isnan{.name = "isnan", .types = types::boolean,
    .doc = "Whether each element of `x` is NaN.", .reference = elementwise<functors::IsNan, 1>};
Tensor isnan(const Tensor& x) { return apply(op_isnan, {x}); }

const Op op_isinf{.name = "isinf", .types = types::boolean,
    .doc = "Whether each element of `x` is infinite.", .reference = elementwise<functors::IsInf, 1>};
Tensor isinf(const Tensor& x) { return apply(op_isinf, {x}); }

const Op op_isfinite{.name = "isfinite", .types = types::boolean,
    .doc = "Whether each element of `x` is neither infinite nor NaN.", .reference = elementwise<functors::IsFinite, 1>};
Tensor isfinite(const Tensor& x) { return apply(op_isfinite, {x}); }

const Op op_logical_not{.name = "logical_not", .types = types::boolean,
    .doc = "Whether each element of `x` is zero.", .reference = elementwise<functors::LogicalNot, 1>};
Tensor logical_not(const Tensor& x) { return apply(op_logical_not, {x}); }

const Op op_bitwise_not{.name = "bitwise_not", .types = types::promoted,
    .doc = "Each element of `x` with all bits inverted.", .reference = elementwise<functors::BitwiseNot, 1>};
Tensor bitwise_not(const Tensor& x) { return apply(op_bitwise_not, {x}); }

const Op* const unary_ops[] = {
    &op_abs, &op_acos, &op_acosh, &op_asin, &op_asinh, &op_atan, &op_atanh, &op_bitwise_not, &op_ceil, &op_cos, &op_cosh,
    &op_deg2rad, &op_digamma, &op_erf, &op_erf_derivative, &op_erfc, &op_erfinv, &op_exp, &op_exp2, &op_expm1, &op_exponent,
    &op_floor, &op_frac, &op_isfinite, &op_isinf, &op_isnan, &op_lgamma, &op_log, &op_log10, &op_log1p, &op_log2,
    &op_logical_not, &op_logit, &op_mantissa, &op_nan_to_num, &op_neg, &op_polygamma, &op_rad2deg, &op_reciprocal, &op_round, &op_round_decimals,
    &op_rsqrt, &op_sgn, &op_sign, &op_sin, &op_sinc, &op_sinh, &op_sqrt, &op_square, &op_tan, &op_tanh, &op_tanh_derivative,
    &op_trunc,
};
Ops families::unary() { return unary_ops; }

}  // namespace adjoint
