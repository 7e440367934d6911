"""`special`: special functions under the names of SciPy and PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
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
from ._pointwise import i0 as i0
from ._pointwise import mvlgamma as multigammaln
from ._polynomials import (
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    hermite_polynomial_h,
    hermite_polynomial_he,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
)

__all__ = [
    "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
    "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
    "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e", "laguerre_polynomial_l", "legendre_polynomial_p",
    "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy", "zeta",
]  # fmt: skip


def _floating(x: Tensor) -> Tensor:
    if x.is_complex():
        raise NotImplementedError(f"not implemented for {x.dtype}: expected real numbers")
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


# ---- Bessel functions


def _bessel(name: str, function: Callable[[int, Tensor], Tensor], order: int, what: str) -> Callable[[Tensor], Tensor]:
    def bessel(input: Tensor) -> Tensor:
        return function(order, input)

    bessel.__name__ = name
    bessel.__doc__ = f"{what} of order {order}, elementwise."
    return bessel


bessel_j0 = _bessel("bessel_j0", _core._bessel_j, 0, "The Bessel function of the first kind")
bessel_y0 = _bessel("bessel_y0", _core._bessel_y, 0, "The Bessel function of the second kind, NaN below 0,")
bessel_j1 = _bessel("bessel_j1", _core._bessel_j, 1, "The Bessel function of the first kind")
bessel_y1 = _bessel("bessel_y1", _core._bessel_y, 1, "The Bessel function of the second kind, NaN below 0,")
i1 = _bessel("i1", _core._bessel_i, 1, "The modified Bessel function of the first kind")
i0e = _bessel("i0e", _core._bessel_i_scaled, 0, "exp(-abs(x)) times the modified Bessel function of the first kind")
i1e = _bessel("i1e", _core._bessel_i_scaled, 1, "exp(-abs(x)) times the modified Bessel function of the first kind")
modified_bessel_i0 = _bessel("modified_bessel_i0", _core._bessel_i, 0, "The modified Bessel function of the first kind")
modified_bessel_k0 = _bessel(
    "modified_bessel_k0", _core._bessel_k, 0, "The modified Bessel function of the second kind, NaN below 0,"
)
scaled_modified_bessel_k0 = _bessel(
    "scaled_modified_bessel_k0", _core._bessel_k_scaled, 0, "exp(x) times the modified Bessel function of the second kind"
)
modified_bessel_i1 = _bessel("modified_bessel_i1", _core._bessel_i, 1, "The modified Bessel function of the first kind")
modified_bessel_k1 = _bessel(
    "modified_bessel_k1", _core._bessel_k, 1, "The modified Bessel function of the second kind, NaN below 0,"
)
scaled_modified_bessel_k1 = _bessel(
    "scaled_modified_bessel_k1", _core._bessel_k_scaled, 1, "exp(x) times the modified Bessel function of the second kind"
)


def spherical_bessel_j0(input: Tensor) -> Tensor:
    """sin(x) / x, 1 at 0."""
    x = _floating(input)
    angle = x.masked_fill(x.isinf(), 0.0).double() / math.pi  # in single precision, another angle
    return _core.sinc(angle).to(x.dtype).masked_fill(x.isinf(), 0.0)


def erfcx(input: Tensor) -> Tensor:
    """exp(x**2) erfc(x), which neither overflows nor vanishes for large x.

    Example: `special.erfcx(tensor([30.0]))  # tensor([0.0188])`
    """
    return _core._erfcx(0, input)


def zeta(input: Any, other: Any) -> Tensor:
    """Hurwitz's zeta function of order `input` > 1: the sum of (other + k)**-input over k >= 0. It has a derivative in `other`.

    Example: `special.zeta(tensor([2.0]), 1)  # tensor([1.6449])`
    """
    if not (isinstance(input, Tensor) or isinstance(other, Tensor)):
        raise TypeError(f"zeta: expected a Tensor among the arguments, got ({type(input).__name__}, {type(other).__name__})")
    return _core._zeta(input, other)


_check_all(globals(), out=__all__)
