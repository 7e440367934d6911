// Elementwise ops with several operands.
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/binary.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "in_float.h"
#include "keep.h"
#include "releasing.h"

namespace adjoint {

namespace {

Types subtracted(Tensors x, const Attrs& a) {
  const Types t = types::promoted(x, a);
  expect(t.compute != DType::bool_, "sub: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  expect(x[0].dtype() != DType::bool_ && x[1].dtype() != DType::bool_,
         "sub: Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  return t;
}
Types selected(Tensors x, const Attrs& a) {
  expect(x[0].dtype() == DType::bool_, "where: expected condition to be a boolean tensor, but got a tensor with dtype ", x[0].dtype());
  return types::last(x, a);
}
Types filled(Tensors x, const Attrs&) {
  expect(x[1].dtype() == DType::bool_, "masked_fill: masked_fill_ only supports boolean masks, but got mask with dtype ", x[1].dtype());
  const bool is_number = x[2]->flags & flag_wrapped;   // whose value is looked at where it is read
  expect(is_complex(x[0].dtype()) || !is_complex(x[2].dtype()) || is_number, "masked_fill: value cannot be converted to type ", x[0].dtype(), " without overflow");
  return all(x[0].dtype());
}
Types of_one_type(Tensors x, const Attrs& a) {
  expect(x[0].dtype() == x[1].dtype(), "heaviside: input and values must have one type, got ", x[0].dtype(), " and ", x[1].dtype());
  expect(!is_complex(x[0].dtype()), "heaviside: not implemented for complex tensors");
  return types::promoted(x, a);
}
Types divided(Tensors x, const Attrs& a) {
  const Types t = types::promoted(x, a);
  expect(!is_integral(t.compute), "Integer division with addcdiv is no longer supported: use x + value * (tensor1 // tensor2), got ", t.compute);
  return t;
}

// masked_fill(x, mask, value) is where(mask, value, x); x stands first to be written in place.
void masked_fill_kernel(const Launch& l) {
  const View x[] = {l.x[1], l.x[2], l.x[0]};
  masked_elementwise<functors::Where, 3>({x, l.y, l.attrs, l.op});
}

// On the bits of numbers, whatever their type.
template <class I> void nextafter_sized(const Launch& l) {
  const functors::NextAfter<I> next{static_cast<I>(l.attrs.as<Order>().n)};
  const View* const v[] = {&l.y[0], &l.x[0], &l.x[1]};
  for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++)
      *reinterpret_cast<I*>(p[0] + i * s[0]) = next(*reinterpret_cast<const I*>(p[1] + i * s[1]), *reinterpret_cast<const I*>(p[2] + i * s[2]));
  });
}
void nextafter_kernel(const Launch& l) {
  switch (itemsize(l.y[0].dtype)) {
    case 2: return nextafter_sized<int16_t>(l);
    case 4: return nextafter_sized<int32_t>(l);
    default: return nextafter_sized<int64_t>(l);
  }
}

constexpr double log_of_2 = 0.6931471805599453;

// A Python number: it has no derivative, and its value decides the form of a rule.
bool is_number(const Tensor& x) { return !(x->keys & key_lifted) && x->flags & flag_wrapped && !is_complex(x.dtype()); }

Tensor pow_slope(const Tensor& v, const Tensor& a, double p) {
  if (p == 0) return zeros_like(v);
  if (p == 1) return unsqueeze(a, 0)->keys & key_tape ? v * pow(in_float(a), wrapped(0.)) : v;   // a graph that is recorded leads to a, too
  return v * (p == 2 ? twice(a) : pow(in_float(a), wrapped(p - 1)) * p);
}
Tensor equals_zero(const Tensor& x) { return eq(x, wrapped(0.)); }
Tensor equals_infinity(const Tensor& a, const Tensor& b) { return logical_and(eq(a, b), isinf(a)); }
// x, or 1 where the mask is set: a divisor or an argument that rules may use without making infinities.
Tensor one_where(const Tensor& mask, const Tensor& x) { return where(mask, wrapped(1.), x); }

Tensor scaled(const Tensor& v, const Scale& s) { return s.value.dtype() == DType::int64 && s.value.to<int64_t>() == 1 ? v : v * wrapped(s.value); }

// hypot(a, b) as a divisor: 1 at the origin.
Tensor radius(const Tensor& a, const Tensor& b) {
  const Tensor r = hypot(a, b);
  return one_where(equals_zero(r), r);
}

// The share of v that the operand `a` of maximum or minimum gets: all where it won, half of a tie.
Tensor share(const Tensor& v, const Tensor& a, const Tensor& b, const Tensor& lost) { return where(eq(a, b), v * .5, drop(lost, v)); }

}  // namespace

Tensor twice(const Tensor& a) {
  const Tensor y = a * 2.;
  return y->keys & key_tape ? pow(in_float(a), wrapped(1.)) * 2. : y;
}

// ---- arithmetic

// Elementwise rather than linear: an absent tangent then costs nothing.
const Op op_add{.name = "add", .torch = "|||alpha=1", .types = types::promoted,
    .d = {rule([](V v) -> Tensor { return v; }), rule([](V v) -> Tensor { return v; })},
    .doc = "Elementwise sum.", .reference = elementwise<functors::Add, 2>};
Tensor add(const Tensor& a, const Tensor& b) { return apply(op_add, {a, b}); }

const Op op_sub{.name = "sub", .torch = "|||alpha=1", .types = subtracted,
    .d = {rule([](V v) -> Tensor { return v; }), rule([](V v) { return -v; })},
    .doc = "Elementwise difference.", .reference = elementwise<functors::Sub, 2>};
Tensor sub(const Tensor& a, const Tensor& b) { return apply(op_sub, {a, b}); }

const Op op_mul{.name = "mul", .kind = Kind::multilinear, .keeps_numbers = true, .types = types::promoted,
    .d = {rule([](V v, X<1> b) { return v * b; }), rule([](V v, X<0> a) { return v * a; })},
    .doc = "Elementwise product.", .reference = elementwise<functors::Mul, 2>};
Tensor mul(const Tensor& a, const Tensor& b) { return apply(op_mul, {a, b}); }

const Op op_div{.name = "div", .keeps_numbers = true, .types = types::floating,
    .d = {rule([](V v, X<1> b) { return v / b; }), wide_rule([](V v, X<0> a, X<1> b) { return -(v * (a / b / b)); })},
    .doc = "Elementwise quotient; integers give floating point.", .reference = elementwise<functors::Div, 2>};
Tensor div(const Tensor& a, const Tensor& b) { return apply(op_div, {a, b}); }

// The type of a power. An exponent that is a whole number keeps that of whole bases, and must be one of it; halves must hold theirs, too.
Types types_of_power(Tensors x, const Attrs& attrs) {
  const Types t = types::promoted(x, attrs);
  const bool number = is_number(x[1]);
  expect(number || t.compute != DType::bool_, ErrorKind::not_implemented, "pow: not implemented for bool");   // bools have no power but numbers
  if (!number || !x[1]->storage) return t;
  const Scalar power = item(x[1]);
  const double size = std::abs(power.to<double>());
  if (is_half(x[0].dtype())) expect(!std::isfinite(size) || size <= largest_number(x[0].dtype()), "pow: value cannot be converted to type ", x[0].dtype(), " without overflow, got ", size);
  if (!is_integral(t.compute)) return t;
  const bool large = power.dtype() == DType::uint64;
  const int64_t b = power.to<int64_t>();
  expect(large || b >= 0, "pow: Integers to negative integer powers are not allowed, got ", b);
  with_type(t.compute, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      expect(large ? std::in_range<T>(power.to<uint64_t>()) : std::in_range<T>(b), "pow: value cannot be converted to type ", t.compute, " without overflow, got ", size);
  });
  return t;
}

// At a = 0 log(a) counts as 0 and, for b = 0, b a^(b - 1) too. Infinities are avoided before they meet a 0.
const Op op_pow{.name = "pow", .torch = "|self exponent", .types = types_of_power,
    .d = {rule([](V v, X<0> a, X<1> b) {
            if (is_number(b)) return pow_slope(v, a, item(b).to<double>());
            const Tensor base = in_float(one_where(logical_and(logical_or(equals_zero(a), isnan(a)), equals_zero(b)), a));
            return v * (b * pow(base, in_float(b) - 1.));
          }),
          wide_rule([](V v, X<0> a, X<1> b, Y<> y) {
            const Tensor real_b = is_complex(b.dtype()) ? real(b) : Tensor(b);
            const Tensor given = to_dtype(a, v.dtype());   // a number as a tensor: beside the 1 it would count as the default type
            const Tensor base = one_where(logical_and(equals_zero(a), ge(real_b, wrapped(0.))), is_number(given) ? alias_of(given) : given);
            return v * (y * log(base));
          })},
    .doc = "`a` to the power `b`, elementwise.", .reference = elementwise<functors::Pow, 2>};
Tensor pow(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::bool_ && is_number(b) && b.dtype() == DType::bool_) return item(b).to<bool>() ? clone(a) : ones_like(a);   // bools have no power but these
  return apply(op_pow, {a, b});
}

const Op op_floor_divide{.name = "floor_divide", .torch = "DivBackward2|||rounding_mode=floor", .keeps_numbers = true, .types = types::promoted,
    .d = {rule([](V v) { return zeros_like(v); }), rule([](V v) { return zeros_like(v); })},
    .doc = "`floor(a / b)`, elementwise, of the exact quotient.", .reference = elementwise<functors::FloorDivide, 2>};
Tensor floor_divide(const Tensor& a, const Tensor& b) { return apply(op_floor_divide, {a, b}); }

const Op op_trunc_divide{.name = "trunc_divide", .torch = "DivBackward2|||rounding_mode=trunc", .keeps_numbers = true, .types = types::promoted,
    .d = {rule([](V v) { return zeros_like(v); }), rule([](V v) { return zeros_like(v); })},
    .doc = "`trunc(a / b)`, elementwise.", .reference = elementwise<functors::TruncDivide, 2>};
Tensor trunc_divide(const Tensor& a, const Tensor& b) { return apply(op_trunc_divide, {a, b}); }

const Op op_remainder{.name = "remainder", .types = types::promoted,
    .d = {rule([](V v) -> Tensor { return v; }), wide_rule([](V v, X<0> a, X<1> b) { return -(v * floor_divide(a, b)); })},
    .doc = "`a - b * floor(a / b)`, elementwise: the sign of `b`.", .reference = elementwise<functors::Remainder, 2>};
Tensor remainder(const Tensor& a, const Tensor& b) { return apply(op_remainder, {a, b}); }

const Op op_fmod{.name = "fmod", .types = types::promoted,
    .d = {rule([](V v) -> Tensor { return v; }), wide_rule([](V v, X<0> a, X<1> b) { return -(v * trunc_divide(a, b)); })},
    .doc = "`a - b * trunc(a / b)`, elementwise: the sign of `a`.", .reference = elementwise<functors::Fmod, 2>};
Tensor fmod(const Tensor& a, const Tensor& b) { return apply(op_fmod, {a, b}); }

// ---- geometry: derivatives at the origin are 0

const Op op_atan2{.name = "atan2", .types = types::floating,
    .d = {wide_rule([](V v, X<0> a, X<1> b) {
            const Tensor r = radius(a, b);
            return v * (b / r) / r;
          }),
          wide_rule([](V v, X<0> a, X<1> b) {
            const Tensor r = radius(a, b);
            return -(v * (a / r) / r);
          })},
    .doc = "Angle of the point `(b, a)`, elementwise, in `[-pi, pi]`.", .reference = elementwise<functors::Atan2, 2>};
Tensor atan2(const Tensor& a, const Tensor& b) { return apply(op_atan2, {a, b}); }

const Op op_hypot{.name = "hypot", .types = types::promoted,
    .d = {wide_rule([](V v, X<0> a, X<1> b) { return v * (a / radius(a, b)); }), wide_rule([](V v, X<0> a, X<1> b) { return v * (b / radius(a, b)); })},
    .doc = "`sqrt(a^2 + b^2)`, elementwise, without overflow on the way.", .reference = elementwise<functors::Hypot, 2>};
Tensor hypot(const Tensor& a, const Tensor& b) { return apply(op_hypot, {a, b}); }

const Op op_copysign{.name = "copysign", .types = types::floating,
    .d = {rule([](V v, X<0> a, X<1> b) { return v * (sign(a) * copysign(ones_like(v), b)); }), rule([](V v) { return zeros_like(v); })},
    .doc = "The size of `a` with the sign of `b`, elementwise.", .reference = elementwise<functors::Copysign, 2>};
Tensor copysign(const Tensor& a, const Tensor& b) { return apply(op_copysign, {a, b}); }

// ---- selection

const Op op_heaviside{.name = "heaviside", .types = of_one_type,
    .d = {rule([](V v) { return zeros_like(v); }), rule([](V v, X<0> x) { return masked_fill(v, ne(x, wrapped(0.)), wrapped(0.)); })},
    .doc = "0 where `input` < 0 or NaN, 1 where `input` > 0, `values` where `input` = 0, elementwise.", .reference = elementwise<functors::Heaviside, 2>};
Tensor heaviside(const Tensor& x, const Tensor& values) { return apply(op_heaviside, {x, values}); }

const Op op_maximum{.name = "maximum", .types = types::promoted,
    .d = {rule([](V v, X<0> a, X<1> b) { return share(v, a, b, lt(a, b)); }), rule([](V v, X<0> a, X<1> b) { return share(v, a, b, lt(b, a)); })},
    .doc = "The larger element; NaN if either is. A tie shares the derivative.", .reference = elementwise<functors::Maximum, 2>};
Tensor maximum(const Tensor& a, const Tensor& b) { return apply(op_maximum, {a, b}); }

const Op op_minimum{.name = "minimum", .types = types::promoted,
    .d = {rule([](V v, X<0> a, X<1> b) { return share(v, a, b, gt(a, b)); }), rule([](V v, X<0> a, X<1> b) { return share(v, a, b, gt(b, a)); })},
    .doc = "The smaller element; NaN if either is. A tie shares the derivative.", .reference = elementwise<functors::Minimum, 2>};
Tensor minimum(const Tensor& a, const Tensor& b) { return apply(op_minimum, {a, b}); }

const Op op_fmax{.name = "fmax", .types = types::promoted,
    .d = {rule([](V v, X<0> a, X<1> b) { return keep(logical_or(ge(a, b), isnan(b)), v); }), rule([](V v, X<0> a, X<1> b) { return drop(logical_or(ge(a, b), isnan(b)), v); })},
    .doc = "The larger element, or the one that is not NaN. A tie gives the derivative to `a`.", .reference = elementwise<functors::Fmax, 2>};
Tensor fmax(const Tensor& a, const Tensor& b) { return apply(op_fmax, {a, b}); }

const Op op_fmin{.name = "fmin", .types = types::promoted,
    .d = {rule([](V v, X<0> a, X<1> b) { return keep(logical_or(le(a, b), isnan(b)), v); }), rule([](V v, X<0> a, X<1> b) { return drop(logical_or(le(a, b), isnan(b)), v); })},
    .doc = "The smaller element, or the one that is not NaN. A tie gives the derivative to `a`.", .reference = elementwise<functors::Fmin, 2>};
Tensor fmin(const Tensor& a, const Tensor& b) { return apply(op_fmin, {a, b}); }

// One record each for two bounds and for one: a number as a bound is an operand that is read once.
const Op op_clamp{.name = "clamp", .torch = "|self min max", .types = types::promoted,
    .d = {rule([](V v, X<0> x, X<1> lo, X<2> hi) { return keep(logical_and(ge(x, lo), le(x, hi)), v); }),
          rule([](V v, X<0> x, X<1> lo, X<2> hi) { return keep(logical_and(lt(x, lo), lt(lo, hi)), v); }),
          rule([](V v, X<0> x, X<1> lo, X<2> hi) { return keep(logical_or(gt(x, hi), lt(hi, lo)), v); })},
    .doc = "`minimum(maximum(x, lo), hi)`, elementwise; derivative 1 at the bounds.", .reference = elementwise<functors::Clamp, 3>};
const Op op_clamp_min{.name = "clamp_min", .torch = "|self min", .types = types::promoted,
    .d = {rule([](V v, X<0> x, X<1> lo) { return keep(ge(x, lo), v); }), rule([](V v, X<0> x, X<1> lo) { return keep(lt(x, lo), v); })},
    .doc = "Each element of `x`, at least `lo`; derivative 1 at the bound.", .reference = elementwise<functors::Maximum, 2>};
const Op op_clamp_max{.name = "clamp_max", .torch = "|self max", .types = types::promoted,
    .d = {rule([](V v, X<0> x, X<1> hi) { return keep(le(x, hi), v); }), rule([](V v, X<0> x, X<1> hi) { return keep(gt(x, hi), v); })},
    .doc = "Each element of `x`, at most `hi`; derivative 1 at the bound.", .reference = elementwise<functors::Minimum, 2>};
Tensor clamp(const Tensor& x, const Tensor& lo, const Tensor& hi) {
  const Named named("clamp");
  expect(lo || hi, "clamp: At least one of 'min' or 'max' must not be None");
  if (!hi) return apply(op_clamp_min, {x, lo});
  if (!lo) return apply(op_clamp_max, {x, hi});
  return apply(op_clamp, {x, lo, hi});
}

const Op op_where{.name = "where", .torch = "|condition self other", .indices = 0b001, .types = selected,
    .d = {Rule{}, rule([](V v, X<0> condition) { return keep(condition, v); }), rule([](V v, X<0> condition) { return drop(condition, v); })},
    .doc = "`a` where `condition` is set, else `b`.", .reference = masked_elementwise<functors::Where, 3>};
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) { return apply(op_where, {condition, a, b}); }

const Op op_masked_fill{.name = "masked_fill", .torch = "|self mask value", .indices = 0b010, .types = filled,
    .d = {rule([](V v, X<1> mask) { return drop(mask, v); }), Rule{}, rule([](V v, X<1> mask) { return keep(mask, v); })},
    .doc = "`value` where `mask` is set, else the element of `x`.", .reference = masked_fill_kernel};
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value) { return apply(op_masked_fill, {x, mask, value}); }

// ---- several steps in one pass

const Op op_xlogy{.name = "xlogy", .types = types::floating,
    .d = {rule([](V v, X<0> a, X<1> b) { return v * xlogy(drop(logical_and(equals_zero(a), le(b, wrapped(0.))), ones_like(v)), b); }),
          rule([](V v, X<0> a, X<1> b) { return v * (a / b); })},
    .doc = "`a * log(b)`, elementwise; 0 where `a` is 0.", .reference = elementwise<functors::Xlogy, 2>};
Tensor xlogy(const Tensor& a, const Tensor& b) { return apply(op_xlogy, {a, b}); }

// In x alone: the derivative in a has no closed form.
template <const char* name> constexpr Rule not_in_a = rule([](V) -> Tensor { fail(ErrorKind::not_implemented, "the derivative for '", name, ": input' is not implemented."); });
constexpr char igamma_name[] = "igamma", igammac_name[] = "igammac";

const Op op_igamma{.name = "igamma", .types = types::floating,
    .d = {not_in_a<igamma_name>, rule([](V v, X<0> a, X<1> x) { return v * igamma_derivative(a, x); })},
    .doc = "The regularised lower incomplete gamma function of `a` at `x`, elementwise.", .reference = elementwise<functors::Igamma, 2>};
Tensor igamma(const Tensor& a, const Tensor& x) { return apply(op_igamma, {a, x}); }

const Op op_igammac{.name = "igammac", .types = types::floating,
    .d = {not_in_a<igammac_name>, rule([](V v, X<0> a, X<1> x) { return -(v * igamma_derivative(a, x)); })},
    .doc = "The regularised upper incomplete gamma function of `a` at `x`, elementwise.", .reference = elementwise<functors::Igammac, 2>};
Tensor igammac(const Tensor& a, const Tensor& x) { return apply(op_igammac, {a, x}); }

const Op op_igamma_derivative{.name = "igamma_derivative", .types = types::floating,
    .d = {wide_rule([](V v, X<0> a, X<1> x, Y<> y) { return v * y * (log(x) - digamma(a)); }),
          wide_rule([](V v, X<0> a, X<1> x) { return v * (igamma_derivative(a - 1., x) - igamma_derivative(a, x)); })},
    .doc = "`x**(a - 1) * exp(-x) / gamma(a)`, elementwise: the derivative of igamma in `x`.", .reference = elementwise<functors::GammaDensity, 2>};
Tensor igamma_derivative(const Tensor& a, const Tensor& x) { return apply(op_igamma_derivative, {a, x}); }

// Equal infinities have no difference; the derivative is shared, as at every tie.
const Op op_logaddexp{.name = "logaddexp", .types = types::promoted,
    .d = {wide_rule([](V v, X<0> a, X<1> b) { return v * sigmoid(drop(equals_infinity(a, b), a - b)); }), wide_rule([](V v, X<0> a, X<1> b) { return v * sigmoid(drop(equals_infinity(a, b), b - a)); })},
    .doc = "`log(exp(a) + exp(b))`, elementwise, without overflow.", .reference = elementwise<functors::LogAddExp, 2>};
Tensor logaddexp(const Tensor& a, const Tensor& b) { return apply(op_logaddexp, {a, b}); }

const Op op_logaddexp2{.name = "logaddexp2", .types = types::floating,
    .d = {wide_rule([](V v, X<0> a, X<1> b) { return v * sigmoid(drop(equals_infinity(a, b), a - b) * log_of_2); }),
          wide_rule([](V v, X<0> a, X<1> b) { return v * sigmoid(drop(equals_infinity(a, b), b - a) * log_of_2); })},
    .doc = "`log2(2**a + 2**b)`, elementwise, without overflow.", .reference = elementwise<functors::LogAddExp2, 2>};
Tensor logaddexp2(const Tensor& a, const Tensor& b) { return apply(op_logaddexp2, {a, b}); }

const Op op_nextafter{.name = "nextafter", .fields = fields_of<Order>, .types = types::floating,
    .d = {rule([](V v, X<0> a, X<1> b) { return keep(logical_and(ne(a, b), isfinite(a)), v); }), rule([](V v) { return zeros_like(v); })},
    .doc = "The number of the type that follows `a` in the direction of `b`, elementwise. Its derivative in `a` is 1 where it moves, that in `b` 0.", .reference = nextafter_kernel};
Tensor nextafter(const Tensor& a, const Tensor& b) {
  const Tensor both[] = {a, b};
  const DType t = result_type(both);
  expect(is_floating(t), ErrorKind::not_implemented, "nextafter: not implemented for ", t);
  return apply(op_nextafter, {a, b}, Order{functors::infinity_bits(t)});   // by which kernels tell half types apart
}

const Op op_lerp{.name = "lerp", .torch = "|self end weight", .types = types::promoted,
    .d = {rule([](V v, X<2> w) { return v * (1. - w); }), rule([](V v, X<2> w) { return v * w; }), rule([](V v, X<0> a, X<1> b) { return v * (b - a); })},
    .doc = "`a + weight * (b - a)`, elementwise.", .reference = elementwise<functors::Lerp, 3>};
Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight) {
  const Tensor ends[] = {a, b};
  const DType t = result_type(ends);
  if (is_half(t) && is_number(weight)) return to_dtype(apply(op_lerp, {to_dtype(a, DType::float32), to_dtype(b, DType::float32), weight}), t);   // the weight is not rounded
  return apply(op_lerp, {a, b, weight});
}

extern const Op op_axpby;   // of normalise.cpp
const Op op_axpby{.name = "axpby", .fields = fields_of<Factors>, .types = types::promoted, .doc = "`a x + b y`, elementwise, of two numbers. It has no derivative: running statistics take it.", .reference = elementwise<functors::Axpby, 2>};

namespace {
// Kernels of other devices take a real `value` alone: a complex one multiplies beforehand.
bool multiplies_beforehand(const Tensor& a, const Tensor& b, const Scalar& value) {
  return is_complex(value.dtype()) && (a.device().type != DeviceType::cpu || b.device().type != DeviceType::cpu);
}
}  // namespace

const Op op_addcmul{.name = "addcmul", .torch = "|self tensor1 tensor2", .fields = fields_of<Scale>, .types = types::promoted,
    .d = {rule([](V v) -> Tensor { return v; }),
          rule([](V v, X<2> b, const Scale& s) { return scaled(v * b, s); }),
          rule([](V v, X<1> a, const Scale& s) { return scaled(v * a, s); })},
    .doc = "`x + value * a * b`, elementwise.", .reference = elementwise<functors::Addcmul, 3>};
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value) {
  if (multiplies_beforehand(a, b, value)) return addcmul(x, wrapped(value) * a, b, 1);
  return apply(op_addcmul, {x, a, b}, Scale{value});
}

const Op op_addcdiv{.name = "addcdiv", .torch = "|self tensor1 tensor2", .fields = fields_of<Scale>, .types = divided,
    .d = {rule([](V v) -> Tensor { return v; }),
          rule([](V v, X<2> b, const Scale& s) { return scaled(v / b, s); }),
          wide_rule([](V v, X<1> a, X<2> b, const Scale& s) { return -scaled(v * (a / b / b), s); })},
    .doc = "`x + value * a / b`, elementwise.", .reference = elementwise<functors::Addcdiv, 3>};
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value) {
  if (multiplies_beforehand(a, b, value)) return addcdiv(x, wrapped(value) * a, b, 1);
  return apply(op_addcdiv, {x, a, b}, Scale{value});
}

const Op* const binary_ops[] = {
    &op_add, &op_addcdiv, &op_addcmul, &op_atan2, &op_axpby, &op_clamp, &op_clamp_max, &op_clamp_min, &op_copysign, &op_div, &op_floor_divide,
    &op_fmax, &op_fmin, &op_fmod, &op_heaviside, &op_hypot, &op_igamma, &op_igamma_derivative, &op_igammac, &op_lerp, &op_logaddexp, &op_logaddexp2, &op_masked_fill, &op_maximum, &op_minimum, &op_mul, &op_nextafter, &op_pow,
    &op_remainder, &op_sub, &op_trunc_divide, &op_where, &op_xlogy,
};
Ops families::binary() { return binary_ops; }

}  // namespace adjoint
