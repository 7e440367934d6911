// Activations. Where a rule chooses between branches it selects: infinity times 0 would be NaN.
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/activation.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/one_type.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "in_float.h"
#include "keep.h"
#include "releasing.h"

namespace adjoint {

namespace {

Types rectified(Tensors x, const Attrs& a) {
  expect(x[0].dtype() != DType::bool_, "relu: Boolean inputs not supported for relu");
  return types::first(x, a);
}

Tensor above(const Tensor& x, double bound) { return gt(x, wrapped(bound)); }

// sqrt(8 / pi) (x + 0.044715 x^3), of which gelu's tanh form takes the sigmoid, and its first two derivatives.
constexpr double gelu_scale = 1.5957691216057308, gelu_cubic = 0.044715;
Tensor gelu_inner(const Tensor& x) { return x * (x * x * (gelu_scale * gelu_cubic) + gelu_scale); }
Tensor gelu_inner_slope(const Tensor& x) { return x * x * (3 * gelu_scale * gelu_cubic) + gelu_scale; }
Tensor gelu_inner_bend(const Tensor& x) { return x * (6 * gelu_scale * gelu_cubic); }

}  // namespace

const Op op_sigmoid{.name = "sigmoid", .types = types::floating,
    .d = {rule([](V v, X<0> x) { return sigmoid_derivative(v, x); })},
    .doc = "`1 / (1 + exp(-x))` for each element of `x`.", .reference = elementwise<functors::Sigmoid, 1>};
Tensor sigmoid(const Tensor& x) { return apply(op_sigmoid, {x}); }

const Op op_sigmoid_derivative{.name = "sigmoid_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x) { return sigmoid_derivative(v, x); }), wide_rule([](V v, X<0> a, X<1> x) { return -(sigmoid_derivative(v * a, x) * tanh(x * .5)); })},
    .doc = "`v` times the derivative of sigmoid at `x`.", .reference = elementwise<functors::SigmoidDerivative, 2>};
Tensor sigmoid_derivative(const Tensor& v, const Tensor& x) { return apply(op_sigmoid_derivative, {v, x}); }

const Op op_relu{.name = "relu", .types = rectified,
    .d = {rule([](V v, Y<> y) { return relu_derivative(v, y); })},
    .doc = "Each element of `x`, or 0 where it is negative; derivative 0 at 0.", .reference = elementwise<functors::Relu, 1>};
Tensor relu(const Tensor& x) { return apply(op_relu, {x}); }

const Op op_relu_derivative{.name = "relu_derivative", .types = types::first,
    .d = {rule([](V v, X<1> y) { return relu_derivative(v, y); }), rule([](V v) { return zeros_like(v); })},
    .doc = "`v` where `y`, a result of relu, is above 0, else 0.", .reference = elementwise<functors::ReluDerivative, 2>};
Tensor relu_derivative(const Tensor& v, const Tensor& y) { return apply(op_relu_derivative, {v, y}); }

const Op op_silu{.name = "silu", .types = types::first,
    .d = {rule([](V v, X<0> x) { return silu_derivative(v, x); })},
    .doc = "`x * sigmoid(x)` for each element of `x`.", .reference = elementwise<functors::Silu, 1>};
Tensor silu(const Tensor& x) { return apply(op_silu, {x}); }

const Op op_silu_derivative{.name = "silu_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x) { return silu_derivative(v, x); }), wide_rule([](V v, X<0> a, X<1> x) { return sigmoid_derivative(v * a, x) * (2. - x * tanh(x * .5)); })},
    .doc = "`v` times the derivative of silu at `x`.", .reference = elementwise<functors::SiluDerivative, 2>};
Tensor silu_derivative(const Tensor& v, const Tensor& x) { return apply(op_silu_derivative, {v, x}); }

// The exact form x Phi(x), and the one with tanh: two records, as kernels differ in everything.
const Op op_gelu_erf{.name = "gelu", .types = types::first,
    .d = {rule([](V v, X<0> x) { return gelu_derivative(v, x, false); })},
    .doc = "`x` times the normal distribution function at `x`.", .reference = elementwise<functors::Gelu, 1>};

const Op op_gelu_tanh{.name = "gelu_tanh", .types = types::first,
    .d = {rule([](V v, X<0> x) { return gelu_derivative(v, x, true); })},
    .doc = "The approximation of gelu by tanh.", .reference = elementwise<functors::GeluTanh, 1>};
Tensor gelu(const Tensor& x, bool tanh_form) { return apply(tanh_form ? op_gelu_tanh : op_gelu_erf, {x}); }

const Op op_gelu_erf_derivative{.name = "gelu_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x) { return gelu_derivative(v, x, false); }),
          // phi(x) (2 - x^2), the density phi from the derivative of erf
          wide_rule([](V v, X<0> a, X<1> x) { return erf_derivative(v * a * 0.3535533905932738, x * 0.7071067811865476) * (2. - x * x); })},
    .doc = "`v` times the derivative of gelu at `x`.", .reference = elementwise<functors::GeluDerivative, 2>};

const Op op_gelu_tanh_derivative{.name = "gelu_tanh_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x) { return gelu_derivative(v, x, true); }), wide_rule([](V v, X<0> a, X<1> x) {
      const Tensor u = gelu_inner(x), slope = gelu_inner_slope(x);
      return sigmoid_derivative(v * a, u) * (slope * 2. + x * (gelu_inner_bend(x) - slope * slope * tanh(u * .5)));
    })},
    .doc = "`v` times the derivative of gelu's tanh form at `x`.", .reference = elementwise<functors::GeluTanhDerivative, 2>};
Tensor gelu_derivative(const Tensor& v, const Tensor& x, bool tanh_form) {
  return apply(tanh_form ? op_gelu_tanh_derivative : op_gelu_erf_derivative, {v, x});
}

namespace {
Tensor gated(const Tensor& x, const Tensor& gate);
}
const Op op_gated{.name = "gated", .types = types::promoted,
    .d = {rule([](V v, X<1> gate) { return gated(v, gate); }), wide_rule([](V v, X<0> x, X<1> gate) { return sigmoid_derivative(v * x, gate); })},
    .doc = "`x sigmoid(gate)`, elementwise.", .reference = elementwise<functors::Gated, 2>};
namespace {
Tensor gated(const Tensor& x, const Tensor& gate) { return apply(op_gated, {x, gate}); }
}  // namespace
Tensor glu(const Tensor& x, int64_t dim) {
  const Named named("glu", {&x, 1}, "GluBackward0");
  expect(x.dim() > 0, "glu does not support scalars because halving size must be even");
  const int d = wrap_dim(dim, x.dim(), "glu");
  expect(x.size(d) % 2 == 0, "glu: Halving dimension must be even, but dimension ", dim, " is size ", x.size(d));
  expect(is_differentiable(x.dtype()), ErrorKind::not_implemented, "glu: not implemented for ", x.dtype());
  const TensorVector halves = chunk(x, 2, d);   // one node, which writes its gradient once
  return gated(halves.front(), halves.back());
}

const Op op_logsigmoid{.name = "logsigmoid", .torch = "LogSigmoid", .types = types::first,
    .d = {rule([](V v, X<0> x) { return v * sigmoid(-x); })},
    .doc = "`log(sigmoid(x))` for each element of `x`.", .reference = elementwise<functors::LogSigmoid, 1>};
Tensor logsigmoid(const Tensor& x) { return apply(op_logsigmoid, {x}); }

const Op op_mish{.name = "mish", .types = types::first,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor t = tanh(softplus(x, 1, 20));
      return v * (t + x * sigmoid(x) * (1. - t * t));
    })},
    .doc = "`x * tanh(softplus(x))` for each element of `x`.", .reference = elementwise<functors::Mish, 1>};
Tensor mish(const Tensor& x) { return apply(op_mish, {x}); }

const Op op_softsign{.name = "softsign", .types = types::floating,
    .d = {wide_rule([](V v, X<0> x) {
      const Tensor d = abs(x) + 1.;
      return v / d / d;
    })},
    .doc = "`x / (1 + abs(x))` for each element of `x`.", .reference = elementwise<functors::Softsign, 1>};
Tensor softsign(const Tensor& x) { return is_complex(x.dtype()) ? x / (abs(x) + 1.) : apply(op_softsign, {x}); }

const Op op_softplus{.name = "softplus", .torch = "|||beta threshold", .fields = fields_of<Factors>, .types = types::first,
    .d = {wide_rule([](V v, X<0> x, const Factors& a) {
      const Tensor z = x * a.a;
      return where(above(z, a.b), v, v * sigmoid(z));
    })},
    .doc = "`log(1 + exp(beta x)) / beta` for each element of `x`; `x` itself where `beta x` is above the threshold.", .reference = elementwise<functors::Softplus, 1>};
Tensor softplus(const Tensor& x, double beta, double threshold) { return apply(op_softplus, {x}, Factors{beta, threshold}); }

const Op op_elu{.name = "elu", .torch = "|||alpha scale input_scale", .fields = fields_of<EluFactors>, .types = types::first,
    .d = {rule([](V v, X<0> x, const EluFactors& a) { return elu_derivative(v, x, a); })},
    .doc = "`scale` times each element of `x` where positive, else `alpha * scale * expm1(input_scale * x)`.", .reference = elementwise<functors::Elu, 1>};
Tensor elu(const Tensor& x, double alpha) { return apply(op_elu, {x}, EluFactors{alpha, 1, 1}); }
Tensor selu(const Tensor& x) { return apply(op_elu, {x}, EluFactors{1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1}); }
Tensor celu(const Tensor& x, double alpha) {
  expect(alpha != 0, "celu: ZeroDivisionError: alpha cannot be 0 for CELU");
  const NodeName node("CeluBackward0");
  return apply(op_elu, {x}, EluFactors{alpha, 1, 1 / alpha});
}

const Op op_elu_derivative{.name = "elu_derivative", .fields = fields_of<EluFactors>, .types = types::floating,
    .d = {rule([](V v, X<1> x, const EluFactors& a) { return elu_derivative(v, x, a); }),
          rule([](V v, X<0> u, X<1> x, const EluFactors& a) { return drop(ge(x, wrapped(0.)), elu_derivative(v * u, x, {a.alpha * a.input_scale, a.scale, a.input_scale})); })},
    .doc = "`v` times the derivative of elu at `x`.", .reference = elementwise<functors::EluDerivative, 2>};
Tensor elu_derivative(const Tensor& v, const Tensor& x, const EluFactors& a) { return apply(op_elu_derivative, {v, x}, a); }

const Op op_piecewise{.name = "piecewise", .fields = fields_of<Pieces>, .types = types::floating,
    .d = {rule([](V v, X<1> x, const Pieces& a) { return piecewise(v, x, a); }),
          rule([](V v, X<0> u, X<1> x, const Pieces& a) { return a.slope == 0 ? zeros_like(v) : piecewise(v * u, x, {a.low, a.high, 0, a.slope, 0}); })},
    .doc = "`v` times a factor that is linear in `x` between two bounds and constant outside of them.", .reference = elementwise<functors::Piecewise, 2>};
Tensor piecewise(const Tensor& v, const Tensor& x, const Pieces& a) { return apply(op_piecewise, {v, x}, a); }

const Op op_leaky_relu{.name = "leaky_relu", .torch = "|||negative_slope", .fields = fields_of<Factors>, .types = types::first,
    .d = {rule([](V v, X<0> x, const Factors& a) { return piecewise(v, x, {0, 0, a.a, a.a, 1}); })},
    .doc = "Each element of `x` where positive, else `slope * x`.", .reference = elementwise<functors::LeakyRelu, 1>};
Tensor leaky_relu(const Tensor& x, double slope) { return apply(op_leaky_relu, {x}, Factors{slope, 0}); }

const Op op_hardtanh{.name = "hardtanh", .torch = "|||min_val max_val", .fields = fields_of<Factors>, .types = types::first,
    .d = {rule([](V v, X<0> x, const Factors& a) { return piecewise(v, x, {a.a, a.b, 0, 1, 0}); })},
    .doc = "Each element of `x`, at least `lo` and at most `hi`; derivative 0 at both.", .reference = elementwise<functors::Hardtanh, 1>};
Tensor hardtanh(const Tensor& x, double lo, double hi) {
  const DType t = x.dtype();
  const bool is_unsigned = t == DType::uint8 || t == DType::uint16 || t == DType::uint32 || t == DType::uint64;
  expect(!is_unsigned || lo >= 0, "hardtanh: cannot do hardtanh on an unsigned type with negative limits, got ", lo);
  return apply(op_hardtanh, {x}, Factors{lo, hi});
}

const Op op_hardshrink{.name = "hardshrink", .torch = "|||lambd", .fields = fields_of<Factors>, .types = types::first,
    .d = {rule([](V v, X<0> x, const Factors& a) { return shrink_derivative(v, x, a.a); })},
    .doc = "Each element of `x`, or 0 where its size is at most the bound.", .reference = elementwise<functors::Hardshrink, 1>};
Tensor hardshrink(const Tensor& x, double bound) { return apply(op_hardshrink, {x}, Factors{bound, 0}); }

const Op op_softshrink{.name = "softshrink", .torch = "|||lambd", .fields = fields_of<Factors>, .types = types::first,
    .d = {rule([](V v, X<0> x, const Factors& a) { return shrink_derivative(v, x, a.a); })},
    .doc = "Each element of `x`, nearer to 0 by the bound; 0 where its size is at most that.", .reference = elementwise<functors::Softshrink, 1>};
Tensor softshrink(const Tensor& x, double bound) { return apply(op_softshrink, {x}, Factors{bound, 0}); }

const Op op_shrink_derivative{.name = "shrink_derivative", .fields = fields_of<Factors>, .types = types::floating,
    .d = {rule([](V v, X<1> x, const Factors& a) { return shrink_derivative(v, x, a.a); }), rule([](V v) { return zeros_like(v); })},
    .doc = "`v` where the size of `x` is above the bound, else 0.", .reference = elementwise<functors::ShrinkDerivative, 2>};
Tensor shrink_derivative(const Tensor& v, const Tensor& x, double bound) { return apply(op_shrink_derivative, {v, x}, Factors{bound, 0}); }

const Op op_threshold{.name = "threshold", .torch = "|||threshold", .fields = fields_of<Factors>, .types = types::first,
    .d = {rule([](V v, X<0> x, const Factors& a) { return piecewise(v, x, {a.a, a.a, 0, 1, 1}); })},
    .doc = "Each element of `x`, or the value where it is at most the bound.", .reference = elementwise<functors::Threshold, 1>};
Tensor threshold(const Tensor& x, const Scalar& bound, const Scalar& value) {
  if (!is_floating(x.dtype())) return masked_fill(x, le(x, wrapped(bound)), wrapped(value));   // numbers that doubles may not hold
  return apply(op_threshold, {x}, Factors{bound.to<double>(), value.to<double>()});
}

const Op op_prelu{.name = "prelu", .torch = "PreluKernel|self weight", .types = types::promoted,
    .d = {rule([](V v, X<0> x, X<1> slope) { return prelu_derivative(v, x, slope); }), rule([](V v, X<0> x) { return drop(above(x, 0), v * x); })},
    .doc = "Each element of `x` where positive, else `slope * x`.", .reference = elementwise<functors::Prelu, 2>};
Tensor prelu(const Tensor& x, const Tensor& slope) {
  expect_type("prelu", "weight", slope, "input", x);
  return apply(op_prelu, {x, slope});
}

const Op op_prelu_derivative{.name = "prelu_derivative", .types = types::floating,
    .d = {rule([](V v, X<1> x, X<2> slope) { return prelu_derivative(v, x, slope); }), rule([](V v) { return zeros_like(v); }),
          rule([](V v, X<0> a, X<1> x) { return drop(above(x, 0), v * a); })},
    .doc = "`v` where `x` is positive, else `slope * v`.", .reference = elementwise<functors::PreluDerivative, 3>};
Tensor prelu_derivative(const Tensor& v, const Tensor& x, const Tensor& slope) { return apply(op_prelu_derivative, {v, x, slope}); }

const Op op_hardsigmoid{.name = "hardsigmoid", .types = types::first,
    .d = {rule([](V v, X<0> x) { return piecewise(v, x, {-3, 3, 0, 1 / 6., 0}); })},
    .doc = "`clamp(x + 3, 0, 6) / 6` for each element of `x`.", .reference = elementwise<functors::Hardsigmoid, 1>};
Tensor hardsigmoid(const Tensor& x) { return apply(op_hardsigmoid, {x}); }

const Op op_hardswish{.name = "hardswish", .types = types::first,
    .d = {rule([](V v, X<0> x) { return piecewise(v, x, {-3, 3, 0, 0, 1, 1 / 3., -1.5}); })},
    .doc = "`x * hardsigmoid(x)` for each element of `x`.", .reference = elementwise<functors::Hardswish, 1>};
Tensor hardswish(const Tensor& x) { return apply(op_hardswish, {x}); }

const Op* const activation_ops[] = {
    &op_elu, &op_elu_derivative, &op_gated, &op_gelu_erf, &op_gelu_erf_derivative, &op_gelu_tanh, &op_gelu_tanh_derivative, &op_hardshrink, &op_hardsigmoid, &op_hardswish, &op_hardtanh,
    &op_leaky_relu, &op_logsigmoid, &op_mish, &op_piecewise, &op_prelu, &op_prelu_derivative, &op_relu, &op_relu_derivative, &op_shrink_derivative, &op_sigmoid, &op_sigmoid_derivative, &op_silu,
    &op_silu_derivative, &op_softplus, &op_softshrink, &op_softsign, &op_threshold,
};
Ops families::activation() { return activation_ops; }

}  // namespace adjoint
