"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all
from adjoint_core._whole import is_whole
from adjoint_core.linalg import inv_ex, svdvals, vector_norm

__all__ = ["cond", "matrix_norm", "norm"]


Dim = int | Sequence[int]


def matrix_norm(
    A: Tensor, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices of shape (..., m, n).

    "fro"; the largest (`inf`, 1) or smallest (`-inf`, -1) sum of a row or column; the sum ("nuc"), largest (2) or smallest (-2)
    singular value.

    Example::

        >>> ad.linalg.matrix_norm(ad.tensor([[1., -2.], [3., 4.]]), 1)
        tensor(6.)
    """
    if A.ndim < 2:
        raise RuntimeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got {A.ndim}.")
    row, column = (_wrapped(d, A.ndim) for d in dim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(A, 2, (row, column), keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        return _spectral_norm(A if dtype is None else A.to(dtype), ord, row, column, keepdim)
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, compared = (row, column) if abs(ord) == 1 else (column, row)
    sums = vector_norm(A, 1, summed, True, dtype=dtype)
    if ord > 0 and not sums.size(compared):
        norms = sums.sum(compared, True)  # 0
    else:
        norms = sums.amax(compared, True) if ord > 0 else sums.amin(compared, True)
    return norms if keepdim else norms.squeeze((row, column))


def _spectral_norm(A: Tensor, ord: float | str, row: int, column: int, keepdim: bool) -> Tensor:
    S = svdvals(A.movedim((row, column), (-2, -1)))
    none = not S.size(-1) and ord == 2  # whose largest is 0
    y = S.sum(-1) if ord == "nuc" or none else S.amax(-1) if ord == 2 else S.amin(-1)
    if keepdim:
        for d in sorted((row, column)):
            y = y.unsqueeze(d)
    return y


def _wrapped(dim: int, ndim: int) -> int:
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim


def norm(
    A: Tensor, ord: float | str | None = None, dim: Dim | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A vector norm, or a matrix norm if `ord` is given and A (or `dim`) has two dimensions.

    Example::

        >>> ad.linalg.norm(ad.tensor([[3., 0.], [4., 0.]]))
        tensor(5.)
    """
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    dims = (dim,) if is_whole(dim) else dim
    if dims is None:
        if A.ndim not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D.")
        dims = (0, 1)[: A.ndim]
    if len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if len(dims) == 2:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: order {ord} needs two dimensions, got {list(dims)}")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition number of A (..., m, n): the norm of A by that of its inverse. p: an order of `matrix_norm`, None is 2.

    Infinite for singular matrices. Orders other than 2 and -2 need square matrices.

    Example::

        >>> ad.linalg.cond(ad.tensor([[2., 0.], [0., 1.]]))
        tensor(2.)
    """
    if p in (None, 2, -2):
        S = svdvals(A)
        return S[..., 0] / S[..., -1] if p != -2 else S[..., -1] / S[..., 0]
    inverse, info = inv_ex(A)
    return _core.where(info > 0, math.inf, matrix_norm(A, p) * matrix_norm(inverse, p))


check_all(globals(), out=__all__)
