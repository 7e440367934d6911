"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from collections.abc import Sequence

import adjoint_core as core
from adjoint_core import Tensor

from .elementwise import of_one_type

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The product of matrices `(..., n, m)` and `(..., m, k)`; a tensor of one axis is a vector.

    Example::

        >>> ad.array_api.matmul(ad.ones((2, 3)), ad.ones(3))
        tensor([3., 3.])
    """
    return core.matmul(*of_one_type(x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Matrices `(..., n, m)` as `(..., m, n)`.

    Example::

        >>> ad.array_api.matrix_transpose(ad.ones((2, 3))).shape
        adjoint.Size([3, 2])
    """
    return x.mT


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """The sum of products along the last axes of `x1` and the first of `x2`, or along those named.

    Example::

        >>> ad.array_api.tensordot(ad.ones((2, 3)), ad.ones((3, 4)), axes=1).shape
        adjoint.Size([2, 4])
    """
    return core.tensordot(*of_one_type(x1, x2), axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The inner products of vectors along an axis, the first of them conjugated.

    Example::

        >>> ad.array_api.vecdot(ad.ones(3), ad.ones(3))
        tensor(3.)
    """
    a, b = of_one_type(x1, x2)
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(f"vecdot: vectors must be of one length, got {a.shape[axis]} and {b.shape[axis]}")
    a, b = core.broadcast_tensors(a.movedim(axis, -1), b.movedim(axis, -1))
    return core.matmul(a.conj().unsqueeze(-2), b.unsqueeze(-1)).squeeze((-1, -2))
