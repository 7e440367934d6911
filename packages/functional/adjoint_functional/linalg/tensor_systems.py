"""Inverses and systems of tensors seen as matrices."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor
from adjoint_core._compose import check_all
from adjoint_core.linalg import inv, solve

__all__ = ["tensorinv", "tensorsolve"]


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A as a map from its last dimensions to the first `ind` ones, whose sizes have the same product.

    Example::

        >>> ad.linalg.tensorinv(ad.eye(6).reshape(2, 3, 6)).shape
        adjoint.Size([6, 2, 3])
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    to, source = A.shape[:ind], A.shape[ind:]
    if to.numel() != source.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {source.numel()} != {to.numel()}"
        )
    return inv(A.reshape(to.numel(), source.numel())).reshape(*source, *to)


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X of tensordot(A, X, X.ndim) = B; `dims` of A are moved to its end first.

    Example::

        >>> ad.linalg.tensorsolve(2 * ad.eye(6).reshape(2, 3, 6), ad.ones(2, 3))
        tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000])
    """
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    sizes = A.shape[B.ndim :]
    if sizes.numel() != B.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {sizes.numel()} != {B.numel()}"
        )
    return solve(A.reshape(B.numel(), sizes.numel()), B.flatten()).reshape(sizes)


check_all(globals(), out=__all__)
