"""Activation functions, and softmax with its relatives."""

import math
from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import nonzero, x

unary = partial(case, elementwise=True)
erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True, initial=-np.inf))
    return e / e.sum(dim, keepdims=True)


def gelu_tanh(x, approximate):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


CASES = [
    unary("sigmoid", x(3, 4), inplace=True, complex=True, ref=sigmoid),
    unary("relu", nonzero(3, 4), inplace=True, ref=lambda x: np.maximum(x, 0), kinks=[([0.0], [0.0])]),
    unary("nn.functional.relu", nonzero(3, 4), inplace="inplace", ref=lambda x: np.maximum(x, 0)),
    unary("nn.functional.silu", x(3, 4), inplace="inplace", ref=lambda x: x * sigmoid(x)),
    unary("nn.functional.hardsigmoid", x(3, 4), inplace="inplace", ref=lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    unary("nn.functional.hardswish", x(3, 4), inplace="inplace", ref=lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    unary("nn.functional.gelu", x(3, 4), ref=lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
    unary("nn.functional.gelu", x(3, 4), approximate="tanh", variant="tanh", records=("gelu_tanh",), ref=gelu_tanh),
    unary("nn.functional.softplus", x(3, 4), ref=lambda x: np.logaddexp(x, 0)),
    unary(
        "nn.functional.softplus",
        x(3, 4),
        beta=2.0,
        threshold=1.0,
        variant="threshold",
        ref=lambda x, beta, threshold: np.where(beta * x > threshold, x, np.logaddexp(beta * x, 0) / beta),
    ),
    unary(
        "nn.functional.threshold",
        x(3, 4),
        0.2,
        0.7,
        inplace="inplace",
        ref=lambda x, bound, value: np.where(x > bound, x, value),
        kinks=[([0.2], [0.0])],
    ),
    unary("nn.functional.logsigmoid", x(3, 4), ref=lambda x: -np.logaddexp(-x, 0)),
    unary(
        "nn.functional.elu",
        nonzero(3, 4),
        inplace="inplace",
        ref=lambda x: np.where(x > 0, x, np.expm1(x)),
        kinks=[([0.0], [1.0])],
    ),
    unary(
        "nn.functional.elu",
        nonzero(3, 4),
        alpha=0.7,
        variant="alpha",
        inplace="inplace",
        ref=lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x)),
    ),
    unary("nn.functional.celu", nonzero(3, 4), alpha=0.7, ref=lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x / alpha))),
    unary(
        "nn.functional.selu",
        nonzero(3, 4),
        ref=lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    ),
    unary(
        "nn.functional.leaky_relu",
        nonzero(3, 4),
        negative_slope=0.1,
        inplace="inplace",
        ref=lambda x, negative_slope: np.where(x > 0, x, negative_slope * x),
        kinks=[([0.0], [0.1])],
    ),
    unary("nn.functional.softsign", x(3, 4), ref=lambda x: x / (1 + np.abs(x)), complex=True, kinks=[([0.0], [1.0])]),
    unary(
        "nn.functional.hardtanh",
        x(3, 4),
        inplace="inplace",
        ref=lambda x: np.clip(x, -1, 1),
        kinks=[([[-1.0, 1.0]], [[0.0, 0.0]])],
    ),
    unary(
        "nn.functional.hardshrink",
        x(3, 4),
        0.3,
        ref=lambda x, b: np.where(np.abs(x) <= b, 0, x),
        kinks=[([[-0.3, 0.3]], [[0.0, 0.0]])],
    ),
    unary(
        "nn.functional.softshrink", x(3, 4), 0.3, ref=lambda x, b: x - np.clip(x, -b, b), kinks=[([[-0.3, 0.3]], [[0.0, 0.0]])]
    ),
    case("nn.functional.prelu", nonzero(3, 4), x(4), ref=lambda x, w: np.where(x > 0, x, w * x)),
    unary("nn.functional.relu6", x(3, 4), inplace="inplace", ref=lambda x: np.clip(x, 0, 6)),
    unary("nn.functional.mish", x(3, 4), inplace="inplace", ref=lambda x: x * np.tanh(np.logaddexp(x, 0))),
    case("softmax", x(3, 4), dim=-1, ref=softmax, empty=[(0, 4)], scalar=[()]),
    case("softmax", x(2, 3, 4), dim=1, variant="middle", ref=softmax),
    case("nn.functional.softmax", x(3, 4), dim=0, ref=softmax),
    case("log_softmax", x(3, 4), dim=-1, ref=lambda x, dim: np.log(softmax(x, dim)), empty=[(0, 4)], scalar=[()]),
    case("log_softmax", x(3, 4), dim=0, variant="first", ref=lambda x, dim: np.log(softmax(x, dim))),
    case("nn.functional.glu", x(3, 4), records=("gated",), ref=lambda x: x[:, :2] * sigmoid(x[:, 2:])),
]
