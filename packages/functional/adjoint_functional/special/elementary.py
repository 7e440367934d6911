"""Special functions that are made of others."""

from __future__ import annotations

import cmath
import math

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, node, rounded_once

__all__ = ["log_ndtr", "ndtr", "ndtri", "spherical_bessel_j0", "xlog1py"]


def _floating(x: Tensor) -> Tensor:
    if x.is_complex():
        raise NotImplementedError(f"not implemented for {x.dtype}: expected real numbers")
    return x if x.is_floating_point() else x.to(_core.get_default_dtype())


@rounded_once
def ndtr(input: Tensor) -> Tensor:
    """The distribution function of the normal distribution.

    Example::

        >>> ad.special.ndtr(ad.tensor([-1.0, 0.0, 1.0]))
        tensor([0.1587, 0.5000, 0.8413])
    """
    return 0.5 * _core.erfc(input * -math.sqrt(0.5))


def ndtri(input: Tensor) -> Tensor:
    """The quantile function of the normal distribution.

    Example::

        >>> ad.special.ndtri(ad.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
    """
    return _core._ndtri(input)


def log_ndtr(input: Tensor) -> Tensor:
    """log(ndtr(x)), accurate on both sides.

    Example::

        >>> ad.special.log_ndtr(ad.tensor([-20.0, 0.0]))
        tensor([-203.9172,   -0.6931])
    """
    return _core._log_ndtr(input)


@node("SpecialXlog1PyBackward0")
@rounded_once
def xlog1py(input: Tensor | float, other: Tensor | float) -> Tensor:
    """x * log1p(y), 0 where x is 0.

    Example::

        >>> ad.special.xlog1py(ad.tensor([0.0, 2.0]), ad.tensor([-1.0, 1.0]))
        tensor([0.0000, 1.3863])
    """
    if not isinstance(other, Tensor):  # a number, which keeps its precision and decides over no type
        exact = _core.tensor(other, dtype=_core.complex128 if isinstance(other, complex) else _core.float64)
        log = _core.log1p(exact).item()
        if cmath.isfinite(log) or other != other:
            return input * log
        other = exact.to(input.device, (input * 0.5).dtype if isinstance(other, int) else _core.result_type(input, other))
    common = _core.result_type(input, other)
    y = other.to(common if common.is_floating_point or common.is_complex else _core.get_default_dtype())
    log = _core.log1p(y)
    if not isinstance(input, Tensor) and input != 0:
        return input * log
    endless = (y <= -1) | (y == float("inf"))
    return input * _core.where(endless & (input == 0) if isinstance(input, Tensor) else endless, 0.0, log)


def spherical_bessel_j0(input: Tensor) -> Tensor:
    """sin(x) / x, 1 at 0.

    Example::

        >>> ad.special.spherical_bessel_j0(ad.tensor([0.0, 1.0]))
        tensor([1.0000, 0.8415])
    """
    return _core._spherical_bessel_j0(_floating(input))


check_all(globals(), out=__all__)
