// Activations and their derivatives, and losses of the same kind.
#include <adjoint/core/functors/activation.h>

#include "elementwise.h"

namespace adjoint::cpu {

namespace {

using namespace functors;
constexpr Cost cheap = Cost::cheap;

constexpr Entry entries[] = {
    {"elu", kernel<Elu, 1>},
    {"elu_derivative", kernel<EluDerivative, 2>},
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
