// Activations and their derivatives, and losses of the same kind.
#include <adjoint/core/functors/activation.h>

#include "complex_functions.h"
#include "elementwise.h"
#include "lines.h"

namespace adjoint::cpu {

namespace {

using namespace functors;
constexpr Cost cheap = Cost::cheap;

// Logarithms stop at -100.
struct BinaryEntropy {
  template <std::floating_point T> T operator()(T x, T target) const {
    const T no = math::log1p(-x), yes = math::log(x);
    return (target - 1) * (no < -100 ? T(-100) : no) - target * (yes < -100 ? T(-100) : yes);
  }
};
template <class T> bool are_fractions(const View& v) {
  const Contiguous memory(v);
  const T* x = memory.as<const T>();
  bool outside = false;
  for (int64_t i = 0; i < v.numel; i++) outside |= !(x[i] >= 0) | !(x[i] <= 1);
  return !outside;
}
// The reference says what is wrong.
void binary_cross_entropy_kernel(const Launch& l) {
  const bool right = l.x[0].dtype == DType::float32   ? are_fractions<float>(l.x[0]) && are_fractions<float>(l.x[1])
                     : l.x[0].dtype == DType::float64 ? are_fractions<double>(l.x[0]) && are_fractions<double>(l.x[1])
                                                      : false;
  right ? kernel_for<BinaryEntropy, 2, Cost::series, float, double>(l) : reference(l);
}

constexpr Entry entries[] = {
    {"binary_cross_entropy", binary_cross_entropy_kernel, true},
    {"binary_cross_entropy_with_logits", kernel<LogisticEntropy, 2>},
    {"elu", kernel<Elu, 1>},
    {"elu_derivative", kernel<EluDerivative, 2>},
    {"gated", kernel<Gated, 2>},
    {"gelu", kernel<Gelu, 1>},
    {"gelu_derivative", kernel<GeluDerivative, 2>},
    {"gelu_tanh", kernel<GeluTanh, 1>},
    {"gelu_tanh_derivative", kernel<GeluTanhDerivative, 2>},
    {"hardshrink", kernel<Hardshrink, 1, cheap>},
    {"hardsigmoid", kernel<Hardsigmoid, 1, cheap>},
    {"hardswish", kernel<Hardswish, 1, cheap>},
    {"hardtanh", kernel<Hardtanh, 1, cheap>},
    {"huber", kernel<Huber, 2, cheap>},
    {"huber_derivative", kernel<HuberDerivative, 3, cheap>},
    {"leaky_relu", kernel<LeakyRelu, 1, cheap>},
    {"logsigmoid", kernel<LogSigmoid, 1>},
    {"mish", kernel<Mish, 1>},
    {"piecewise", kernel<Piecewise, 2, cheap>},
    {"prelu", kernel<Prelu, 2, cheap>},
    {"prelu_derivative", kernel<PreluDerivative, 3, cheap>},
    {"relu", kernel<Relu, 1, cheap>},
    {"relu_derivative", kernel<ReluDerivative, 2, cheap>},
    {"shrink_derivative", kernel<ShrinkDerivative, 2, cheap>},
    {"sigmoid", kernel<Sigmoid, 1>},
    {"sigmoid_derivative", kernel<SigmoidDerivative, 2>},
    {"silu", kernel<Silu, 1>},
    {"silu_derivative", kernel<SiluDerivative, 2>},
    {"softplus", kernel<Softplus, 1>},
    {"softshrink", kernel<Softshrink, 1, cheap>},
    {"softsign", kernel<Softsign, 1>},
    {"threshold", kernel<Threshold, 1, cheap>},
};

}  // namespace

Entries activation_kernels() { return entries; }

}  // namespace adjoint::cpu
