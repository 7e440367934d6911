"""Noise: dropout of channels, rrelu, gumbel_softmax, for `nn.functional`."""

from __future__ import annotations

from adjoint_core import Tensor, _core

from .activation import write


def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """x where x >= 0, a random slope times x elsewhere; the mean slope if not `training`."""
    if lower > upper:
        raise RuntimeError(f"rrelu: Lower bound should be less than or equal to the upper bound, got {lower} and {upper}")
    slope = _core.rand_like(input) * (upper - lower) + lower if training else (lower + upper) / 2
    return write(input, _core.where(input >= 0, input, input * slope), inplace)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the relaxed categorical distribution; `hard` gives one-hot values with the gradient of the soft ones."""
    noise = -_core.empty_like(logits).copy_(-(1 - _core.rand_like(logits)).log()).log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    one = _core.zeros_like(logits).scatter_(dim, soft.detach().argmax(dim, keepdim=True), 1.0)
    return one - soft.detach() + soft


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
