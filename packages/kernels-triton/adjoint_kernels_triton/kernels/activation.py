"""Activations, and a cotangent times their derivatives in one pass."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._declare import elementwise


@triton.jit
def logistic(x):
    """1 / (1 + exp(-x)), from the side that does not overflow."""
    e = libdevice.exp(-tl.abs(x))
    return tl.where(x < 0, e, 1.0) / (1.0 + e)


@triton.jit
def soft_plus(x):
    """log(1 + exp(x))."""
    return tl.where(x > 0, x, 0.0) + libdevice.log1p(libdevice.exp(-tl.abs(x)))


@triton.jit
def logistic_derivative(x):
    e = libdevice.exp(-tl.abs(x))
    return e / ((1.0 + e) * (1.0 + e))


@triton.jit
def limited(x, low: tl.constexpr, high: tl.constexpr):
    return tl.where(x < low, low, tl.where(x > high, high, x))


@elementwise()
def sigmoid(x):
    return logistic(x)


@elementwise()
def sigmoid_derivative(v, x):
    return v * logistic_derivative(x)


@elementwise()
def tanh_derivative(v, x):
    return 4.0 * v * logistic_derivative(x + x)


@elementwise()
def logsigmoid(x):
    return tl.where(x < 0, x, 0.0) - libdevice.log1p(libdevice.exp(-tl.abs(x)))


@elementwise()
def gated(x, gate):
    return x * logistic(gate)


@elementwise()
def binary_cross_entropy_with_logits(x, target):
    return tl.where(x > 0, 1.0 - target, -target) * x + soft_plus(-tl.abs(x))


@elementwise()
def relu(x):
    return tl.where((x != x) | (x >= 0), x, 0).to(x.dtype)


@elementwise()
def relu_derivative(v, y):
    return tl.where(y <= 0, 0.0, v)


@elementwise()
def silu(x):
    return tl.where(x == -float("inf"), -0.0, x * logistic(x))


@elementwise()
def silu_derivative(v, x):
    z = limited(x, -1000.0, 1000.0)
    return v * (logistic(z) * (1.0 + z * logistic(-z)))


@elementwise()
def mish(x):
    return x * libdevice.tanh(soft_plus(x))


@elementwise()
def softsign(x):
    return x / (1.0 + tl.abs(x))


@triton.jit
def normal_below(x):
    """The probability of a normal number below x, accurate in the tail."""
    return 0.5 * libdevice.erfc(-0.7071067811865476 * x)


@elementwise()
def gelu(x):
    return tl.where(x == -float("inf"), -0.0, x * normal_below(x))


@elementwise()
def gelu_derivative(v, x):
    z = limited(x, -40.0, 40.0)
    return v * (normal_below(z) + z * (0.3989422804014327 * libdevice.exp(-0.5 * z * z)))


@elementwise()
def gelu_tanh(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return tl.where(x == -float("inf"), -0.0, x * logistic(2.0 * inner))


@elementwise()
def gelu_tanh_derivative(v, x):
    z = limited(x, -40.0, 40.0)
    inner = 1.5957691216057308 * (z + 0.044715 * z * z * z)
    slope = 1.5957691216057308 * (1.0 + 0.134145 * z * z)
    return v * (logistic(inner) + z * slope * logistic_derivative(inner))


@elementwise()
def softplus(x, a, b):
    z = x * a.to(x.dtype)
    return tl.where(z > b.to(x.dtype), x, soft_plus(z) / a.to(x.dtype))


@elementwise()
def elu(x, alpha, scale, input_scale):
    z = tl.where(x > 0, 0.0, x * input_scale.to(x.dtype))
    return tl.where(x > 0, x * scale.to(x.dtype), (alpha * scale).to(x.dtype) * libdevice.expm1(z))


@elementwise()
def elu_derivative(v, x, alpha, scale, input_scale):
    z = tl.where(x > 0, 0.0, x * input_scale.to(x.dtype))
    return v * tl.where(x > 0, scale.to(x.dtype), (alpha * scale * input_scale).to(x.dtype) * libdevice.exp(z))


@elementwise()
def piecewise(v, x, low, high, below, inside, above, slope, middle):
    under = x <= low.to(x.dtype)
    over = x >= high.to(x.dtype)
    line = tl.where(slope == 0, inside.to(x.dtype), inside.to(x.dtype) + (x - middle.to(x.dtype)) * slope.to(x.dtype))
    factor = tl.where(under, below.to(x.dtype), tl.where(over, above.to(x.dtype), line))
    return tl.where((under | over) & (factor == 0), 0.0, v * factor)


@elementwise()
def round_decimals(x, a, b):
    s = a.to(x.dtype)
    return tl.where(b > 0, libdevice.rint(x / s) * s, libdevice.rint(x * s) / s)


@elementwise()
def leaky_relu(x, a):
    return tl.where(x > 0, x, x * a.to(x.dtype))


@elementwise()
def hardshrink(x, a):
    return tl.where(tl.abs(x) <= a.to(x.dtype), 0.0, x)


@elementwise()
def threshold(x, a, b):
    return tl.where(x <= a.to(x.dtype), b.to(x.dtype), x)


@elementwise()
def softshrink(x, a):
    bound = a.to(x.dtype)
    return x - tl.where(x < -bound, -bound, tl.where(x > bound, bound, x))


@elementwise()
def prelu(x, slope):
    return tl.where(x > 0, x, slope * x)


@elementwise()
def huber(x, target, a, b):
    size = tl.abs(x - target)
    square = size * size * (0.5 * b / a).to(x.dtype)
    line = (size - (0.5 * a).to(x.dtype)) * b.to(x.dtype)
    return tl.where(size < a.to(x.dtype), square, line)


@elementwise()
def shrink_derivative(v, x, a):
    return tl.where(tl.abs(x) <= a.to(x.dtype), 0.0, v)


@elementwise()
def prelu_derivative(v, x, slope):
    return tl.where(x > 0, v, v * slope)


@elementwise()
def huber_derivative(v, x, target, a, b):
    bound = a.to(x.dtype)
    d = x - target
    return v * (tl.where(d < -bound, -bound, tl.where(d > bound, bound, d)) * (b / a).to(x.dtype))


@elementwise()
def hardtanh(x, a, b):
    low = a.to(x.dtype)
    high = b.to(x.dtype)
    return tl.where(x < low, low, tl.where(x > high, high, x))


@elementwise()
def hardsigmoid(x):
    return limited(x + 3.0, 0.0, 6.0) / 6.0


@elementwise()
def hardswish(x):
    return x * (limited(x + 3.0, 0.0, 6.0) / 6.0)
