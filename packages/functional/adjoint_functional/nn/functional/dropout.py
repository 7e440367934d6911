"""Dropout: of elements and of whole channels."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once
from adjoint_core._warnings import warn

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


@rounded_once
def _some_lost(input: Tensor, shape: tuple[int, ...], p: float) -> Tensor:
    """What selu has far below zero, in the place of elements at random, brought back to the input's mean and variance."""
    lost = -1.7580993408473766
    a = ((1 - p) * (1 + p * lost**2)) ** -0.5
    keep = _core._dropout(_core.ones(*shape, dtype=input.dtype, device=input.device), p, True) != 0
    return _core.where(keep, input, lost) * a - a * lost * p


def _alpha(name: str, input: Tensor, shape: tuple[int, ...], p: float, training: bool, inplace: bool) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    return write(input, input * 0 if p == 1 else _some_lost(input, shape, p), inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of selu activations.

    Example::

        >>> ad.nn.functional.alpha_dropout(ad.ones(3))
        tensor([1., 1., 1.])
    """
    return _alpha("alpha_dropout", input, tuple(input.shape), p, training, inplace)


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


def _channels(batch: int, x: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Zeroes all that has the same indices in the first `batch` dimensions together."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return x
    if x.ndim < batch:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    keep = _core._dropout(_core.ones(*x.shape[:batch], *[1] * (x.ndim - batch), dtype=x.dtype, device=x.device), p, True)
    return write(x, x * keep, inplace)


def _warn_of_dimensions(name: str, n: int, x: Tensor) -> None:
    """Of an input that is neither (c, ...) nor (batch, c, ...) with n dimensions of space."""
    if x.ndim not in (n + 1, n + 2):
        warn(
            f"{name}: Received a {x.ndim}-D input to {name}, which is deprecated and will result in an error in a future release. "
            "To retain the behavior and silence this warning, please use dropout instead.",
        )


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (n, c, length) or (c, length).

    Example::

        >>> ad.nn.functional.dropout1d(ad.ones(1, 2, 3), p=1.0)
        tensor([[[0., 0., 0.],
                 [0., 0., 0.]]])
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input")
    return _channels(input.ndim - 1, input, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (n, c, h, w); those of (n, c, length) too, with a warning, as PyTorch does.

    Example::

        >>> ad.nn.functional.dropout2d(ad.ones(1, 2, 1, 2), p=1.0).flatten()
        tensor([0., 0., 0., 0.])
    """
    _warn_of_dimensions("dropout2d", 2, input)
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
            "interpreted as shape (N, C, L), where C is the channel dim. Please switch to using dropout1d instead.",
        )
    return _channels(2, input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of (n, c, d, h, w) or (c, d, h, w).

    Example::

        >>> ad.nn.functional.dropout3d(ad.ones(1, 2, 1, 1, 1), p=1.0).flatten()
        tensor([0., 0.])
    """
    _warn_of_dimensions("dropout3d", 3, input)
    return _channels(2 if input.ndim == 5 else 1, input, p, training, inplace)
