"""Dropout: of elements and of whole channels."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once

from .activation import write


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p and scales the others by 1 / (1 - p).

    Example::

        >>> ad.nn.functional.dropout(ad.ones(3), training=False)
        tensor([1., 1., 1.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return write(input, _core._dropout(input, p, training), inplace)


def _alpha(name: str, input: Tensor, shape: tuple[int, ...], p: float, training: bool, inplace: bool) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return write(input, input * 0, inplace)
    dropped = -1.7580993408473766
    a = ((1 - p) * (1 + p * dropped**2)) ** -0.5
    keep = _core.rand(shape, dtype=input.dtype, device=input.device) >= p
    return write(input, _core.where(keep, input, dropped) * a - a * dropped * p, inplace)


@rounded_once
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of selu activations.

    Example::

        >>> ad.nn.functional.alpha_dropout(ad.ones(3))
        tensor([1., 1., 1.])
    """
    return _alpha("alpha_dropout", input, tuple(input.shape), p, training, inplace)


@rounded_once
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels of (n, c, ...).

    Example::

        >>> ad.nn.functional.feature_alpha_dropout(ad.ones(1, 2, 3))
        tensor([[[1., 1., 1.],
                 [1., 1., 1.]]])
    """
    if training and input.dim() < 2:
        raise RuntimeError(f"feature_alpha_dropout: an input of at least two dimensions is needed, got {input.dim()}")
    return _alpha("feature_alpha_dropout", input, (*input.shape[:2], *[1] * (input.dim() - 2)), p, training, inplace)


def _channels(name: str, ndims: tuple[int, ...], x: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if x.ndim not in ndims:
        raise RuntimeError(f"{name}: Expected {' or '.join(f'{n}D' for n in ndims)} input, but received a {x.ndim}D input")
    if not training or p == 0:
        return x
    batch = 1 if x.ndim == ndims[0] else 2
    keep = _core._dropout(_core.ones(*x.shape[:batch], *[1] * (x.ndim - batch), dtype=x.dtype, device=x.device), p, True)
    return write(x, x * keep, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (n, c, length) or (c, length)."""
    return _channels("dropout1d", (2, 3), input, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (n, c, h, w) or (c, h, w)."""
    return _channels("dropout2d", (3, 4), input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (n, c, d, h, w) or (c, d, h, w)."""
    return _channels("dropout3d", (4, 5), input, p, training, inplace)
