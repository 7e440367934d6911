"""Special functions that have records, under the names of SciPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable

from . import _core
from ._compose import check_all as _check_all
from ._compose import inplace_method as _inplace_method
from ._compose import node as _node
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

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1",
    "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e", "log1p", "log_softmax", "logit", "logsumexp",
    "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "polygamma", "psi", "round",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "sinc", "softmax", "xlogy", "zeta",
]  # fmt: skip


def _bessel(
    name: str, function: Callable[[int, Tensor], Tensor], order: int, what: str, at_one: str
) -> Callable[[Tensor], Tensor]:
    def bessel(input: Tensor) -> Tensor:
        return function(order, input)

    bessel.__name__ = name
    example = f"Example::\n\n    >>> ad.special.{name}(ad.tensor([1.0]))\n    tensor([{at_one}])"
    bessel.__doc__ = f"{what} of order {order}, elementwise.\n\n{example}"
    return bessel


bessel_j0 = _bessel("bessel_j0", _core._bessel_j, 0, "The Bessel function of the first kind", "0.7652")
bessel_y0 = _bessel("bessel_y0", _core._bessel_y, 0, "The Bessel function of the second kind, NaN below 0,", "0.0883")
bessel_j1 = _bessel("bessel_j1", _core._bessel_j, 1, "The Bessel function of the first kind", "0.4401")
bessel_y1 = _bessel("bessel_y1", _core._bessel_y, 1, "The Bessel function of the second kind, NaN below 0,", "-0.7812")
i1 = _bessel("i1", _core._bessel_i, 1, "The modified Bessel function of the first kind", "0.5652")
i0e = _bessel("i0e", _core._bessel_i_scaled, 0, "exp(-abs(x)) times the modified Bessel function of the first kind", "0.4658")
i1e = _bessel("i1e", _core._bessel_i_scaled, 1, "exp(-abs(x)) times the modified Bessel function of the first kind", "0.2079")
modified_bessel_i0 = _bessel(
    "modified_bessel_i0", _core._bessel_i, 0, "The modified Bessel function of the first kind", "1.2661"
)
modified_bessel_k0 = _bessel(
    "modified_bessel_k0", _core._bessel_k, 0, "The modified Bessel function of the second kind, NaN below 0,", "0.4210"
)
scaled_modified_bessel_k0 = _bessel(
    "scaled_modified_bessel_k0",
    _core._bessel_k_scaled,
    0,
    "exp(x) times the modified Bessel function of the second kind",
    "1.1445",
)
modified_bessel_i1 = _bessel(
    "modified_bessel_i1", _core._bessel_i, 1, "The modified Bessel function of the first kind", "0.5652"
)
modified_bessel_k1 = _bessel(
    "modified_bessel_k1", _core._bessel_k, 1, "The modified Bessel function of the second kind, NaN below 0,", "0.6019"
)
scaled_modified_bessel_k1 = _bessel(
    "scaled_modified_bessel_k1",
    _core._bessel_k_scaled,
    1,
    "exp(x) times the modified Bessel function of the second kind",
    "1.6362",
)


def airy_ai(input: Tensor) -> Tensor:
    """Airy's function Ai, a solution of y'' = x y, elementwise; NaN at infinities, as in PyTorch, whose function has no derivative.

    Example::

        >>> ad.special.airy_ai(ad.tensor([0.0, 1.0]))
        tensor([0.3550, 0.1353])
    """
    return _core._airy_ai(input)


def entr(input: Tensor) -> Tensor:
    """-x log(x): 0 at 0, minus infinity below.

    Example::

        >>> ad.special.entr(ad.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.3466, -0.0000])
    """
    return _core._entr(input)


def erfcx(input: Tensor) -> Tensor:
    """exp(x**2) erfc(x), which neither overflows nor vanishes for large x.

    Example::

        >>> ad.special.erfcx(ad.tensor([30.0]))
        tensor([0.0188])
    """
    return _core._erfcx(0, input)


def zeta(input: Tensor | float, other: Tensor | float) -> Tensor:
    """Hurwitz's zeta function of order `input` > 1: the sum of (other + k)**-input over k >= 0. It has a derivative in `other`.

    Example::

        >>> ad.special.zeta(ad.tensor([2.0]), 1)
        tensor([1.6449])
    """
    if not (isinstance(input, Tensor) or isinstance(other, Tensor)):
        raise TypeError(f"zeta: expected a Tensor among the arguments, got ({type(input).__name__}, {type(other).__name__})")
    return _core._zeta(input, other)


@_inplace_method
@_node("I0Backward0")
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    Example::

        >>> ad.i0(ad.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _core._bessel_i(0, input)


_check_all(globals(), out=__all__)
