"""Transforms of each number by itself."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ..nn import functional as F
from . import constraints
from .transforms import Transform
from .utils import broadcast_all

__all__ = ["AbsTransform", "ExpTransform", "PowerTransform", "SigmoidTransform", "SoftplusTransform", "TanhTransform"]


class _Line(Transform):
    """Transforms of each number by itself that grow, and need nothing else."""

    domain = constraints.real
    codomain = constraints.real
    bijective = True
    sign = +1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = Transform.__hash__


class ExpTransform(_Line):
    """``exp(x)``.

    Example::

        >>> t = ad.distributions.ExpTransform()
        >>> t(ad.tensor(0.0)), t.log_abs_det_jacobian(ad.tensor(3.0), t(ad.tensor(3.0)))
        (tensor(1.), tensor(3.))
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def _clipped_sigmoid(x: Tensor) -> Tensor:
    info = core.finfo(x.dtype)
    return core.clamp(core.sigmoid(x), min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(_Line):
    """``sigmoid(x)``, kept inside (0, 1) by the type's precision.

    Example::

        >>> ad.distributions.SigmoidTransform()(ad.tensor([0.0]))
        tensor([0.5000])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        info = core.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Line):
    """``log(1 + exp(x))``.

    Example::

        >>> ad.distributions.SoftplusTransform()(ad.tensor([0.0]))
        tensor([0.6931])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x)


class TanhTransform(_Line):
    """``tanh(x)``; its inverse is not exact near 1: give it a cache.

    Example::

        >>> ad.distributions.TanhTransform(cache_size=1)(ad.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return core.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))  # log(1 - tanh(x)**2), exact for large x too


class AbsTransform(Transform):
    """``|x|``: no bijection; its inverse is the positive branch.

    Example::

        >>> ad.distributions.AbsTransform()(ad.tensor([-2.0, 1.0]))
        tensor([2., 1.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """``x ** exponent`` of positive numbers.

    Example::

        >>> ad.distributions.PowerTransform(2.0)(ad.tensor([3.0]))
        tensor([9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return core.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape
