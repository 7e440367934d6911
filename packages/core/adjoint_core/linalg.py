"""Linear algebra that has records, with PyTorch's signatures: factorisations and systems stand in files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from ._compose import check_all as _check_all
from ._core import LinAlgError as LinAlgError
from ._core import Tensor
from ._linalg.factorisations import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    ldl_factor,
    ldl_factor_ex,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from ._linalg.systems import det, inv, inv_ex, ldl_solve, lu_solve, slogdet, solve, solve_ex, solve_triangular

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul",
    "matrix_exp", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "vector_norm",
]  # fmt: skip

Dim = int | Sequence[int]


def vector_norm(x: Tensor, ord: float = 2, dim: Dim | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over `dim` (all, if none); infinite orders give the extremes of |x|, 0 counts what is not zero.

    Example::

        >>> ad.linalg.vector_norm(ad.tensor([3., 4.]))
        tensor(5.)
    """
    return _core._vector_norm(x, ord, dim, keepdim, dtype)


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of length 3 along `dim`; other dimensions broadcast.

    Example::

        >>> ad.linalg.cross(ad.tensor([1., 0., 0.]), ad.tensor([0., 1., 0.]))
        tensor([0., 0., 1.])
    """
    return _core.cross(input, other, dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of the matrices in the last two dimensions, as the last dimension.

    Example::

        >>> ad.linalg.diagonal(ad.tensor([[1., 2.], [3., 4.]]))
        tensor([1., 4.])
    """
    return A.diagonal(offset, dim1, dim2)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices, or of batches of them.

    Example::

        >>> ad.linalg.matmul(ad.ones(2, 2), ad.ones(2))
        tensor([2., 2.])
    """
    return input @ other


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of A (..., n, n): the sum of Aᵏ / k!.

    Example::

        >>> ad.linalg.matrix_exp(ad.tensor([[0., 1.], [0., 0.]]))
        tensor([[1., 1.],
                [0., 1.]])
    """
    return _core.matrix_exp(A)


_check_all(globals(), out=("cross", "vector_norm"))
