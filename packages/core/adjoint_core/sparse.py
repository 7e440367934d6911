"""`sparse`: operations whose gradients with respect to a sparse tensor stay where it specifies values."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import Tensor
from ._tensor.sparse import sparse_coo_tensor
from ._whole import is_whole as _is_whole

__all__ = ["addmm", "mm", "sum"]


def _masked(x: Tensor) -> Tensor:
    return x._masked_gradient() if _core._is_sparse(x) else x


def _reduced(input: Tensor, mat2: Tensor, reduce: str) -> Tensor:
    """Each row of the result from the products of the values that the sparse row specifies; 0 where it specifies none."""
    if reduce not in ("mean", "amax", "amin"):
        raise RuntimeError(f"sparse.mm: reduce must be one of sum, mean, amax, amin, got {reduce!r}")
    if not _core._is_sparse(input) or _core._is_sparse(mat2):
        raise RuntimeError(
            f"sparse.mm: with reduce={reduce!r}, only the first matrix is sparse, got layouts {input.layout}, {mat2.layout}"
        )
    if input.ndim != 2 or mat2.ndim != 2 or input.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"sparse.mm: matrices (n, m) and (m, k) are expected, got shapes {list(input.shape)} and {list(mat2.shape)}"
        )
    x = _masked(input).to_sparse().coalesce()
    row, column = x.indices()
    products = x.values()[:, None] * mat2[column]
    at = row[:, None].expand(products.shape)
    zeros = _core.zeros((input.shape[0], mat2.shape[1]), dtype=products.dtype, device=products.device)
    return zeros.scatter_reduce(0, at, products, reduce, include_self=False)


def mm(input: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """The product of two matrices, (n, m) and (m, k), of which one at least is sparse; sparse if both are.

    Arguments:
        reduce: "mean", "amax" and "amin" take those of the products in place of their sum, of what the sparse `input` specifies.

    Example::

        >>> x = sparse_coo_tensor([[0], [1]], [2.0], (2, 2))
        >>> mm(x, ad.tensor([[1.0], [3.0]]))
        tensor([[6.],
                [0.]])
    """
    return _core.mm(_masked(input), _masked(mat2)) if reduce == "sum" else _reduced(input, mat2, reduce)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * mm(mat1, mat2)`.

    Example::

        >>> ad.sparse.addmm(ad.ones(2, 1), ad.eye(2).to_sparse(), ad.ones(2, 1))
        tensor([[2.],
                [2.]])
    """
    return _core.addmm(input, _masked(mat1), _masked(mat2), beta=beta, alpha=alpha)


def sum(input: Tensor, dim: int | tuple[int, ...] | None = None, dtype: Any = None) -> Tensor:
    """The sum over `dim`, or over all dimensions; sparse while a sparse dimension is left.

    Example::

        >>> sum(sparse_coo_tensor([[0, 1], [1, 1]], [2.0, 3.0], (2, 2)), 0).to_dense()
        tensor([0., 5.])
    """
    x = _masked(input if dtype is None else input.to(dtype)).to_sparse().coalesce()
    if dim is None:
        return x.values().sum(dtype=dtype)
    dims = {d % x.ndim for d in ((dim,) if _is_whole(dim) else dim)}
    rows = [d for d in range(x.sparse_dim()) if d not in dims]
    within = tuple(d - x.sparse_dim() + 1 for d in sorted(dims) if d >= x.sparse_dim())
    values = x.values().sum(within, dtype=dtype) if within else x.values()
    if not rows:
        return values.sum(0, dtype=dtype)
    size = [n for d, n in enumerate(x.shape) if d not in dims]
    return sparse_coo_tensor(x.indices()[rows], values, size).coalesce()
