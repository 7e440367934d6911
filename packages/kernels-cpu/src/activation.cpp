// Activations and their derivatives.
#include <adjoint/core/functors/activation.h>

#include "elementwise.h"

namespace adjoint::cpu {

namespace {

using namespace functors;
constexpr Cost cheap = Cost::cheap;

constexpr Entry entries[] = {
    {"elu", kernel<Elu, 1>},
    {"gelu", kernel<Gelu, 1>},
    {"gelu_derivative", kernel<GeluDerivative, 2>},
    {"gelu_tanh", kernel<GeluTanh, 1>},
    {"gelu_tanh_derivative", kernel<GeluTanhDerivative, 2>},
    {"hardsigmoid", kernel<Hardsigmoid, 1, cheap>},
    {"hardswish", kernel<Hardswish, 1, cheap>},
    {"hardtanh", kernel<Hardtanh, 1, cheap>},
    {"leaky_relu", kernel<LeakyRelu, 1, cheap>},
    {"logsigmoid", kernel<LogSigmoid, 1>},
    {"mish", kernel<Mish, 1>},
    {"relu", kernel<Relu, 1, cheap>},
    {"relu_derivative", kernel<ReluDerivative, 2, cheap>},
    {"sigmoid", kernel<Sigmoid, 1>},
    {"sigmoid_derivative", kernel<SigmoidDerivative, 2>},
    {"silu", kernel<Silu, 1>},
    {"silu_derivative", kernel<SiluDerivative, 2>},
    {"softplus", kernel<Softplus, 1>},
    {"softsign", kernel<Softsign, 1>},
};

}  // namespace

Entries activation_kernels() { return entries; }

}  // namespace adjoint::cpu
