"""Functions of two or three numbers, with broadcasting."""

import math
from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import Input, data, mask, nonzero, positive, x

binary = partial(case, elementwise=True, inplace=True, alias=True)
TIE = [([1.0, 1.0], [0.5, 0.5])]
"Where two arguments tie, each gets half."


def rounded_down(a, b, rounding_mode):
    return np.floor(a / b) if rounding_mode == "floor" else np.trunc(a / b)


def orders(*shape):
    """Numbers above 1, not differentiated."""
    return Input(shape, lambda rng, s: rng.uniform(1.2, 5.0, s), differentiable=False)


def lower_gamma(a, x):
    """P(a, x) for a > 1 by Gauss and Legendre's rule: the integral of t^(a-1) e^-t, with t = x u^2, over gamma(a)."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    u, w = (nodes + 1) / 2, weights / 2
    a, x = np.broadcast_arrays(a, x)
    integral = (2 * w * u ** (2 * a[..., None] - 1) * np.exp(-x[..., None] * u * u)).sum(-1)
    return x**a * integral / np.vectorize(math.gamma, otypes=[float])(a)


CASES = [
    binary("add", x(3, 4), x(3, 4), complex=True, ref=np.add),
    binary("add", x(3, 4), x(3, 4), alpha=0.5, variant="alpha", complex=True, ref=lambda a, b, alpha: a + alpha * b),
    binary("add", x(3, 4), x(4), variant="row", complex=True, alias=False, ref=np.add),
    binary("sub", x(3, 4), x(3, 4), complex=True, ref=np.subtract),
    binary(
        "sub", x(3, 4), x(3, 1), alpha=3, variant="column", complex=True, alias=False, ref=lambda a, b, alpha: a - alpha * b
    ),
    binary("mul", x(3, 4), x(3, 4), complex=True, ref=np.multiply),
    binary("mul", x(3, 1), x(1, 4), variant="both", complex=True, alias=False, inplace=False, ref=np.multiply),
    binary("mul", x(3, 4), x(), variant="0d", complex=True, alias=False, ref=np.multiply),
    binary("div", x(3, 4), nonzero(3, 4), complex=True, ref=np.divide),
    binary("div", x(3, 4), nonzero(4), variant="row", complex=True, alias=False, ref=np.divide),
    binary("div", x(3, 4), nonzero(3, 4), rounding_mode="floor", variant="floor", ref=rounded_down),
    binary("div", x(3, 4), nonzero(3, 4), rounding_mode="trunc", variant="trunc", ref=rounded_down),
    binary("pow", positive(3, 4), x(3, 4), complex=True, ref=np.power),
    binary("pow", positive(3, 4), x(4), variant="row", complex=True, alias=False, ref=np.power),
    binary(
        "pow",
        positive(3, 4),
        x(3, 4),
        variant="zero_base",
        complex=True,
        alias=False,
        kinks=[([0.0, 2.0], [0.0, 0.0]), ([0.0, 1.0], [1.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])],
    ),
    binary("atan2", nonzero(3, 4), nonzero(3, 4), ref=np.arctan2, kinks=[([0.0, 0.0], [0.0, 0.0])]),
    binary("maximum", x(3, 4), x(3, 4), inplace=False, ref=np.maximum, kinks=TIE),
    binary("minimum", x(3, 4), x(3, 4), inplace=False, ref=np.minimum, kinks=TIE),
    binary("max", x(3, 4), x(3, 4), variant="binary", inplace=False, ref=np.maximum),
    binary("min", x(3, 4), x(4), variant="binary", inplace=False, alias=False, ref=np.minimum),
    binary(
        "fmax", x(3, 4), x(3, 4), inplace=False, ref=np.fmax, kinks=[([[np.nan, 1.0], [2.0, np.nan]], [[0.0, 1.0], [1.0, 0.0]])]
    ),
    binary("fmin", x(3, 4), x(3, 4), inplace=False, ref=np.fmin),
    binary("copysign", nonzero(3, 4), nonzero(3, 4), ref=np.copysign),
    binary("hypot", nonzero(3, 4), nonzero(3, 4), ref=np.hypot),
    binary("heaviside", nonzero(3, 4), x(3, 4), ref=np.heaviside),
    binary("remainder", x(3, 4), nonzero(3, 4), ref=np.remainder),
    binary("fmod", x(3, 4), nonzero(3, 4), ref=np.fmod),
    binary("logaddexp", x(3, 4), x(3, 4), complex=True, inplace=False, ref=lambda a, b: np.log(np.exp(a) + np.exp(b))),
    binary("logaddexp2", x(3, 4), x(3, 4), inplace=False, ref=np.logaddexp2),
    binary("xlogy", positive(3, 4), positive(3, 4), ref=lambda a, b: a * np.log(b), kinks=[([0.0, 2.0], [np.log(2.0), 0.0])]),
    binary("igamma", orders(3, 1), positive(3, 4), inplace=False, alias=False, ref=lower_gamma),
    binary("igammac", orders(3, 1), positive(3, 4), inplace=False, alias=False, ref=lambda a, x: 1 - lower_gamma(a, x)),
    binary("where", mask(3, 4), x(3, 4), x(3, 4), complex=True, inplace=False, alias=False, ref=np.where),
    binary("where", mask(3, 4), x(4), x(3, 1), variant="broadcast", complex=True, inplace=False, alias=False, ref=np.where),
    binary("where", mask(3, 4), x(3, 4), 0.5, variant="scalar", complex=True, inplace=False, alias=False, ref=np.where),
    binary(
        "clamp",
        x(3, 4),
        x(3, 4),
        variant="tensor",
        inplace=False,
        call=lambda ad, x, low: ad.clamp(x, low, low + 1),
        ref=lambda x, low: np.clip(x, low, low + 1),
    ),
    binary("lerp", x(3, 4), x(3, 4), 0.3, complex=True, ref=lambda a, b, w: a + w * (b - a)),
    binary("lerp", x(3, 4), x(3, 4), x(3, 4), variant="tensor", complex=True, ref=lambda a, b, w: a + w * (b - a)),
    binary("addcmul", x(3, 4), x(3, 4), x(3, 4), value=0.5, complex=True, ref=lambda a, b, c, value: a + value * b * c),
    binary("addcmul", x(3, 4), x(3, 1), x(4), variant="broadcast", complex=True, alias=False, ref=lambda a, b, c: a + b * c),
    binary("addcdiv", x(3, 4), x(3, 4), nonzero(3, 4), value=0.5, complex=True, ref=lambda a, b, c, value: a + value * b / c),
    binary(
        "masked_fill",
        x(3, 4),
        mask(3, 4),
        x(),
        variant="tensor",
        complex=True,
        alias=False,
        empty=[(0, 3), (0, 3), ()],
        ref=lambda x, m, value: np.where(m, value, x),
    ),
]

COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
CASES += [binary(name, data(3, 4), data(3, 4), inplace=False, alias=False, ref=ref) for name, ref in COMPARISONS.items()]
