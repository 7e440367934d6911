"""`special`: special functions under the names of SciPy and PyTorch."""

from __future__ import annotations

import math
from typing import Any

from . import _core
from ._checked import check_all as _check_all
from ._core import Tensor
from ._core import digamma as digamma
from ._core import digamma as psi
from ._core import erf as erf
from ._core import erfc as erfc
from ._core import erfinv as erfinv
from ._core import exp2 as exp2
from ._core import expm1 as expm1
from ._core import igamma as gammainc
from ._core import igammac as gammaincc
from ._core import lgamma as gammaln
from ._core import log1p as log1p
from ._core import log_softmax as log_softmax
from ._core import logit as logit
from ._core import logsumexp as logsumexp
from ._core import polygamma as polygamma
from ._core import round as round
from ._core import sigmoid as expit
from ._core import sinc as sinc
from ._core import softmax as softmax
from ._core import xlogy as xlogy
from ._pointwise import mvlgamma as multigammaln

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp",
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy",
]  # fmt: skip


def _floating(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.to(_core.get_default_dtype())


def entr(input: Tensor) -> Tensor:
    """-x log(x): 0 at 0, minus infinity below."""
    x = _floating(input)
    inside, below = (x > 0) | x.isnan(), x < 0
    usual = _core.where(inside, x, 1.0)
    at_zero = _core.where(x == 0, x, 1.0).sqrt()  # whose derivative at 0 is infinite too
    undefined = _core.where(below, x * 0, 1.0).log()
    return _core.where(inside, -usual * usual.log(), _core.where(below, undefined, at_zero))


def ndtr(input: Tensor) -> Tensor:
    """The distribution function of the normal distribution."""
    return 0.5 * _core.erfc(input * -math.sqrt(0.5))


def ndtri(input: Tensor) -> Tensor:
    """The quantile function of the normal distribution."""
    return math.sqrt(2) * _core.erfinv(2 * _floating(input) - 1)


def log_ndtr(input: Tensor) -> Tensor:
    """log(ndtr(x)), accurate on both sides; far below 0 by its asymptotic series."""
    input = _floating(input)
    if input.dtype.itemsize == 2:
        return log_ndtr(input.float()).to(input.dtype)
    end = -30 if input.dtype == _core.float64 else -10  # of where ndtr is no subnormal number, and the five terms not exact
    near = _core.log1p(-ndtr(-input.clamp_min(0)))
    middle = ndtr(input.clamp(end, 0)).log()
    x = input.clamp_max(end)
    s = 1 / (x * x)
    series = 1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s * (1 - 9 * s))))
    far = -x * x / 2 - (-x).log() - 0.5 * math.log(2 * math.pi) + series.log()
    return _core.where(input > 0, near, _core.where(input > end, middle, far))


def xlog1py(input: Any, other: Any) -> Tensor:
    """x * log1p(y), 0 where x is 0."""
    y = other if isinstance(other, Tensor) else _core.tensor(other, dtype=input.dtype, device=input.device)
    log = _core.log1p(y)
    return _core.where((_core.zeros_like(log) + input == 0) & ~y.isnan(), 0.0, input * log)


_check_all(globals())
