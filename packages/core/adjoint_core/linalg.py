"""`linalg`: linear algebra with PyTorch's signatures. Norms and products stand here, factorisations and systems in files of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import _core
from ._compose import check_all as _check_all
from ._core import LinAlgError as LinAlgError
from ._core import Tensor
from ._factorisations import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from ._least_squares import cond, lstsq, matrix_exp, matrix_rank, pinv, vander
from ._systems import det, inv, inv_ex, lu_solve, slogdet, solve, solve_ex, solve_triangular, tensorinv, tensorsolve

__all__ = ["LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm"]  # fmt: skip

Dim = int | Sequence[int]


def vector_norm(x: Tensor, ord: float = 2, dim: Dim | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over `dim` (all, if none); infinite orders give the extremes of |x|, 0 counts what is not zero.

    Example::

        >>> ad.linalg.vector_norm(ad.tensor([3., 4.]))
        tensor(5.)
    """
    return _core._vector_norm(x, ord, dim, keepdim, dtype)


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
    norms = sums.amax(compared, True) if ord > 0 else sums.amin(compared, True)
    return norms if keepdim else norms.squeeze((row, column))


def _spectral_norm(A: Tensor, ord: float | str, row: int, column: int, keepdim: bool) -> Tensor:
    S = svdvals(A.movedim((row, column), (-2, -1)))
    y = S.sum(-1) if ord == "nuc" else S.amax(-1) if ord == 2 else S.amin(-1)
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
    dims = (dim,) if isinstance(dim, int) else dim
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


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of length 3 along `dim`; other dimensions broadcast.

    Example::

        >>> ad.linalg.cross(ad.tensor([1., 0., 0.]), ad.tensor([0., 1., 0.]))
        tensor([0., 0., 1.])
    """
    return _core.cross(input, other, dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """sum(conj(x) * y) along `dim`; other dimensions broadcast.

    Example::

        >>> ad.linalg.vecdot(ad.tensor([1., 2.]), ad.tensor([3., 4.]))
        tensor(11.)
    """
    return (x.conj() * y).sum(dim)


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


def matrix_power(A: Tensor, n: int) -> Tensor:
    """A @ A @ ... @ A, n times, for square matrices (..., m, m); a negative n multiplies inverses.

    Example::

        >>> ad.linalg.matrix_power(ad.tensor([[1., 1.], [0., 1.]]), 3)
        tensor([[1., 3.],
                [0., 1.]])
    """
    if A.ndim < 2 or A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, got shape {list(A.shape)}")
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        never = _core.zeros_like(A, dtype=_core.bool)
        return _core.where(never, A, _core.eye(A.size(-1), dtype=A.dtype, device=A.device))  # a gradient of zeros
    if n == 1:
        return A.clone()
    half = A if n < 4 else matrix_power(A, n // 2)
    return half @ half if n % 2 == 0 else half @ half @ A


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors.

    Example::

        >>> ad.linalg.multi_dot([ad.ones(2, 3), ad.ones(3, 4), ad.ones(4)])
        tensor([12., 12.])
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, *middle, last = tensors
    matrices = [first.unsqueeze(0) if first.ndim == 1 else first, *middle, last.unsqueeze(1) if last.ndim == 1 else last]
    for i, (x, y) in enumerate(zip(matrices, matrices[1:])):
        if x.ndim != 2 or y.ndim != 2 or x.size(1) != y.size(0):
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(x.shape)} and {list(y.shape)} cannot be multiplied"
            )
    y = _chain(matrices, 0, len(matrices), _best_splits([x.size(0) for x in matrices] + [matrices[-1].size(1)]))
    return y.squeeze([d for d, x in ((0, first), (1, last)) if x.ndim == 1]) if 1 in (first.ndim, last.ndim) else y


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split the chain of matrices [i, j), whose shapes are (sizes[k], sizes[k + 1])."""
    cost, split = {(i, i + 1): 0 for i in range(len(sizes) - 1)}, {}
    for length in range(2, len(sizes)):
        for i in range(len(sizes) - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k, j] + sizes[i] * sizes[k] * sizes[j], k) for k in range(i + 1, j)
            )
    return split


def _chain(matrices: list[Tensor], i: int, j: int, split: dict[tuple[int, int], int]) -> Tensor:
    if j - i == 1:
        return matrices[i]
    k = split[i, j]
    return _chain(matrices, i, k, split) @ _chain(matrices, k, j, split)


_check_all(globals(), out=("cross", "matrix_norm", "matrix_power", "multi_dot", "norm", "vecdot", "vector_norm"))
