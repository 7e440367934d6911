// Scalar functions of the activations, and of v times their derivatives, each one pass over memory.
#pragma once
#include <adjoint/core/functors/number.h>
#include <adjoint/core/math/activation.h>
#include <adjoint/core/math/complex.h>

namespace adjoint::functors {

struct Sigmoid { template <Field T> T operator()(T x) const { return math::sigmoid(x); } };
struct LogSigmoid { template <Real T> T operator()(T x) const { return math::log_sigmoid(x); } };
// The loss of a probability sigmoid(x): -(1 - target) log(sigmoid(-x)) - target log(sigmoid(x)), where nothing cancels.
struct LogisticEntropy { template <Real T> T operator()(T x, T target) const { return ((x > 0 ? T(1) : T(0)) - target) * x + math::detail::log1p_exp(math::abs(x)); } };
struct Gated { template <Field T> T operator()(T x, T gate) const { return x * math::sigmoid(gate); } };
struct Silu { template <Field T> T operator()(T x) const { return math::silu(x); } };
struct Mish { template <Real T> T operator()(T x) const { return x * math::tanh(math::softplus(x)); } };
struct Softsign { template <Real T> T operator()(T x) const { return x / (1 + math::abs(x)); } };
struct Relu {
  template <Integer T> T operator()(T x) const { return x > T(0) ? x : T(0); }
  template <Real T> T operator()(T x) const { return math::relu(x); }
};
struct Gelu { template <Real T> T operator()(T x) const { return math::gelu(x); } };
struct GeluTanh { template <Real T> T operator()(T x) const { return math::gelu_tanh(x); } };
struct Softplus {
  double beta, threshold;
  explicit Softplus(const Attrs& a) : beta(a.as<Factors>().a), threshold(a.as<Factors>().b) {}
  template <Real T> T operator()(T x) const { return math::softplus(x, static_cast<T>(beta), static_cast<T>(threshold)); }
};
struct Elu {
  double scale, negative_scale, input_scale;
  explicit Elu(const Attrs& a) : scale(a.as<EluFactors>().scale), negative_scale(a.as<EluFactors>().alpha * scale), input_scale(a.as<EluFactors>().input_scale) {}
  template <Real T> T operator()(T x) const { return math::elu(x, static_cast<T>(scale), static_cast<T>(negative_scale), static_cast<T>(input_scale)); }
};
struct LeakyRelu {
  double slope;
  explicit LeakyRelu(const Attrs& a) : slope(a.as<Factors>().a) {}
  template <Real T> T operator()(T x) const { return x > 0 ? x : x * static_cast<T>(slope); }
};
struct Hardtanh {
  double low, high;
  explicit Hardtanh(const Attrs& a) : low(a.as<Factors>().a), high(a.as<Factors>().b) {}
  template <Number T> requires Ordered<T> T operator()(T x) const { return math::clamp(x, convert<T>(low), convert<T>(high)); }
};
struct Hardshrink {
  double bound;
  explicit Hardshrink(const Attrs& a) : bound(a.as<Factors>().a) {}
  template <Real T> T operator()(T x) const { return math::abs(x) <= static_cast<T>(bound) ? T(0) : x; }
};
struct Softshrink {
  double bound;
  explicit Softshrink(const Attrs& a) : bound(a.as<Factors>().a) {}
  template <Real T> T operator()(T x) const { return x - math::clamp(x, static_cast<T>(-bound), static_cast<T>(bound)); }
};
struct Threshold {
  double bound, value;
  explicit Threshold(const Attrs& a) : bound(a.as<Factors>().a), value(a.as<Factors>().b) {}
  template <Real T> T operator()(T x) const { return x <= static_cast<T>(bound) ? static_cast<T>(value) : x; }
};
struct Prelu { template <Real T> T operator()(T x, T slope) const { return x > 0 ? x : slope * x; } };
// Squares up to the bound, a line of the slope from there on.
struct Huber {
  double bound, slope;
  explicit Huber(const Attrs& a) : bound(a.as<Factors>().a), slope(a.as<Factors>().b) {}
  template <Real T> T operator()(T x, T target) const {
    const T d = x - target, size = math::abs(d);
    const T square = d * d * static_cast<T>(.5 * slope / bound), line = (size - static_cast<T>(.5 * bound)) * static_cast<T>(slope);
    return size < static_cast<T>(bound) ? square : line;
  }
};
struct Hardsigmoid { template <Real T> T operator()(T x) const { return math::clamp(x + 3, T(0), T(6)) / 6; } };
struct Hardswish { template <Real T> T operator()(T x) const { return x * (math::clamp(x + 3, T(0), T(6)) / 6); } };

struct SigmoidDerivative {
  template <Field T> T operator()(T v, T x) const {
    if constexpr (Real<T>) return v * math::sigmoid_derivative(x);
    else {  // e^-z / (1 + e^-z)^2, even in z
      const T e = math::exp(x.re < 0 ? x : -x), d = T(1) + e;
      return v * (e / (d * d));
    }
  }
};
// 1 / cosh^2(x) = 4 sigmoid'(2 x): 1 - y^2 would cancel for large x.
struct TanhDerivative {
  template <Field T> T operator()(T v, T x) const { return SigmoidDerivative{}(real_t<T>(4) * v, x + x); }
};
struct SiluDerivative {
  template <Field T> T operator()(T v, T x) const {
    if constexpr (Real<T>) return v * math::silu_derivative(x);
    else return v * (math::sigmoid(x) * (T(1) + x * math::sigmoid(-x)));
  }
};
struct GeluDerivative { template <Real T> T operator()(T v, T x) const { return v * math::gelu_derivative(x); } };
struct GeluTanhDerivative { template <Real T> T operator()(T v, T x) const { return v * math::gelu_tanh_derivative(x); } };
struct ReluDerivative { template <Real T> T operator()(T v, T y) const { return y <= 0 ? T(0) : v; } };
struct EluDerivative : Elu {
  explicit EluDerivative(const Attrs& a) : Elu(a) {}
  template <Real T> T operator()(T v, T x) const {
    return v * math::elu_derivative(x, static_cast<T>(scale), static_cast<T>(negative_scale * input_scale), static_cast<T>(input_scale));
  }
};
// A factor of 0 below or above gives 0 for every v. NaN lies inside.
struct Piecewise {
  static constexpr bool narrow = true;
  Pieces p;
  explicit Piecewise(const Attrs& a) : p(a.as<Pieces>()) {}
  template <Real T> T operator()(T v, T x) const {
    const T line = p.slope == 0 ? static_cast<T>(p.inside) : static_cast<T>(p.inside) + (x - static_cast<T>(p.middle)) * static_cast<T>(p.slope);
    const bool below = x <= static_cast<T>(p.low), above = x >= static_cast<T>(p.high);
    const T factor = below ? static_cast<T>(p.below) : above ? static_cast<T>(p.above) : line;
    return (below | above) & (factor == 0) ? T(0) : v * factor;
  }
};
struct ShrinkDerivative {
  double bound;
  explicit ShrinkDerivative(const Attrs& a) : bound(a.as<Factors>().a) {}
  template <Real T> T operator()(T v, T x) const { return math::abs(x) <= static_cast<T>(bound) ? T(0) : v; }
};
struct PreluDerivative { template <Real T> T operator()(T v, T x, T slope) const { return x > 0 ? v : v * slope; } };
struct HuberDerivative {
  double bound, slope;
  explicit HuberDerivative(const Attrs& a) : bound(a.as<Factors>().a), slope(a.as<Factors>().b) {}
  template <Real T> T operator()(T v, T x, T target) const {
    return v * (math::clamp(x - target, static_cast<T>(-bound), static_cast<T>(bound)) * static_cast<T>(slope / bound));
  }
};

}  // namespace adjoint::functors
