"""Functions of one number."""

import math
from functools import partial

import numpy as np

from op_cases._case import case
from op_cases._inputs import between, mask, nonzero, positive, unit, x

unary = partial(case, elementwise=True, inplace=True)
holomorphic = partial(unary, complex=True)

ZERO = [([0.0], [0.0])]
"At 0 the derivative is taken to be 0."

CASES = [
    unary("abs", nonzero(3, 4), ref=np.abs, complex=True, kinks=ZERO),
    holomorphic("neg", x(3, 4), ref=np.negative),
    unary("sign", nonzero(3, 4), ref=np.sign, kinks=ZERO),
    unary("floor", x(3, 4), ref=np.floor, kinks=ZERO),
    unary("ceil", x(3, 4), ref=np.ceil, kinks=ZERO),
    unary("round", x(3, 4), ref=np.round, kinks=[([0.5], [0.0])]),
    unary(
        "round",
        x(3, 4),
        decimals=2,
        variant="decimals",
        ref=lambda x, decimals: np.round(x, decimals),
        records=("round_decimals",),
        skip={"half": "10**decimals x is rounded to half first, as in PyTorch"},
    ),
    unary("trunc", x(3, 4), ref=np.trunc),
    unary("frac", x(3, 4), ref=lambda x: x - np.trunc(x)),
    holomorphic("exp", x(3, 4), ref=np.exp),
    holomorphic("expm1", x(3, 4), ref=np.expm1),
    holomorphic("exp2", x(3, 4), ref=np.exp2),
    holomorphic("log", positive(3, 4), ref=np.log),
    holomorphic("log1p", positive(3, 4), ref=np.log1p),
    holomorphic("log2", positive(3, 4), ref=np.log2),
    holomorphic("log10", positive(3, 4), ref=np.log10),
    holomorphic("sqrt", positive(3, 4), ref=np.sqrt),
    holomorphic("rsqrt", positive(3, 4), ref=lambda x: 1 / np.sqrt(x)),
    holomorphic("reciprocal", nonzero(3, 4), ref=np.reciprocal),
    holomorphic("square", x(3, 4), ref=np.square, kinks=ZERO),
    holomorphic("sin", x(3, 4), ref=np.sin),
    holomorphic("cos", x(3, 4), ref=np.cos),
    holomorphic("tan", between(-1.2, 1.2, 3, 4), ref=np.tan),
    holomorphic("asin", unit(3, 4), ref=np.arcsin),
    holomorphic("acos", unit(3, 4), ref=np.arccos),
    holomorphic("atan", x(3, 4), ref=np.arctan),
    holomorphic("sinh", x(3, 4), ref=np.sinh),
    holomorphic("cosh", x(3, 4), ref=np.cosh),
    holomorphic("tanh", x(3, 4), ref=np.tanh),
    holomorphic("asinh", x(3, 4), ref=np.arcsinh),
    holomorphic("acosh", between(1.3, 4.0, 3, 4), ref=np.arccosh),
    holomorphic("atanh", unit(3, 4), ref=np.arctanh),
    holomorphic("sinc", nonzero(3, 4), ref=np.sinc, kinks=ZERO),
    unary("erf", x(3, 4), ref=np.vectorize(math.erf, otypes=[float])),
    unary("erfc", x(3, 4), ref=np.vectorize(math.erfc, otypes=[float])),
    unary("erfinv", unit(3, 4)),
    unary("lgamma", positive(3, 4), ref=np.vectorize(math.lgamma, otypes=[float])),
    unary("digamma", positive(3, 4)),
    unary("logit", between(0.1, 0.9, 3, 4), ref=lambda x: np.log(x / (1 - x))),
    unary("deg2rad", x(3, 4), ref=np.deg2rad),
    unary("rad2deg", x(3, 4), ref=np.rad2deg),
    unary("nan_to_num", x(3, 4), ref=np.nan_to_num, kinks=[([[np.nan, np.inf, -np.inf, 1.0]], [[0.0, 0.0, 0.0, 1.0]])]),
    unary("positive", x(3, 4), inplace=False, complex=True, ref=np.positive),
    unary("pow", positive(3, 4), 2.5, variant="scalar", complex=True, ref=np.power),
    unary("pow", nonzero(3, 4), 3, variant="integer", complex=True, ref=np.power, kinks=ZERO),
    unary("pow", nonzero(3, 4), 0, variant="zero", complex=True, ref=np.power, kinks=ZERO),
    unary("pow", nonzero(3, 4), -2, variant="negative", complex=True, ref=np.power),
    unary(
        "lerp",
        x(3, 4),
        x(3, 4),
        0.3,
        variant="number",
        complex=True,
        ref=lambda a, b, w: a + w * (b - a),
        skip={"half": "the number is rounded to half first, unlike PyTorch"},
    ),
    unary("pow", 2.5, x(3, 4), variant="scalar_base", complex=True, inplace=False, ref=np.power),
    unary("clamp", x(3, 4), -0.5, 0.7, ref=np.clip, kinks=[([[-0.5, 0.7, 2.0]], [[1.0, 1.0, 0.0]])]),
    unary("clamp", x(3, 4), min=-0.5, variant="min", ref=lambda x, min: np.maximum(x, min)),
    unary("clamp", x(3, 4), max=0.7, variant="max", ref=lambda x, max: np.minimum(x, max)),
    unary("clamp_min", x(3, 4), -0.5, ref=np.maximum),
    unary("clamp_max", x(3, 4), 0.7, ref=np.minimum),
    unary("polygamma", 2, positive(3, 4), inplace=False),
    unary("masked_fill", x(3, 4), mask(3, 4), 0.5, complex=True, ref=lambda x, m, value: np.where(m, value, x)),
    unary("add", x(3, 4), 2.5, variant="scalar", complex=True, ref=np.add),
    unary("sub", x(3, 4), 2.5, variant="scalar", complex=True, ref=np.subtract),
    unary("mul", x(3, 4), 2.5, variant="scalar", complex=True, ref=np.multiply),
    unary("div", x(3, 4), 2.5, variant="scalar", complex=True, ref=np.divide),
    unary("Tensor.__rsub__", x(3, 4), 2.5, inplace=False, complex=True, ref=lambda x, c: c - x),
    unary("Tensor.__rtruediv__", nonzero(3, 4), 2.5, inplace=False, complex=True, ref=lambda x, c: c / x),
]
