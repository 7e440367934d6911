"""Distances and angles between vectors."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import node, rounded_once


@rounded_once
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`.

    Example::

        >>> ad.nn.functional.cosine_similarity(ad.tensor([[1., 0.]]), ad.tensor([[3., 4.]]))
        tensor([0.6000])
    """
    x1, x2 = _core.broadcast_tensors(x1, x2)
    common = _core.result_type(x1, x2)
    if not common.is_floating_point:
        raise RuntimeError(f"cosine_similarity: expected common dtype to be floating point, yet common dtype is {common}")
    if eps < 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got: {eps}")
    x1, x2 = x1.to(common), x2.to(common)
    a = x1 / x1.norm(2, dim, keepdim=True).clamp_min(eps)
    b = x2 / x2.norm(2, dim, keepdim=True).clamp_min(eps)
    return (a * b).sum(dim)


@node("NormBackward1")
@rounded_once
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of x1 - x2 + eps along the last dimension.

    Example::

        >>> ad.nn.functional.pairwise_distance(ad.zeros(1, 2), ad.tensor([[3., 4.]]))
        tensor([5.0000])
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim)
