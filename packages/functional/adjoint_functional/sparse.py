"""Functions of sparse tensors that are composed of others: the module `sparse` has them too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ContextDecorator
from typing import Any

from adjoint_core import ShapeError, Tensor, _core, layout, sparse_coo_tensor
from adjoint_core._tensor.compressed import with_parts

__all__ = ["check_sparse_tensor_invariants", "log_softmax", "sampled_addmm", "softmax", "spdiags"]


def _groups(x: Tensor, dim: int) -> tuple[Tensor, int]:
    """For each value of a coalesced tensor the number of the line along a sparse dimension in which it lies, and how many there are."""
    key = _core.zeros(x._nnz(), dtype=_core.int64, device=x.device)
    for d, row in enumerate(x._indices()):
        if d != dim:
            key = key * x.shape[d] + row
    lines, group = _core.unique(key, return_inverse=True)
    return group, lines.numel()


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`, where `input` specifies values.

    Example::

        >>> ad.sparse.log_softmax(ad.tensor([[0.0, 2.0], [3.0, 3.0]]).to_sparse(), 1).to_dense()
        tensor([[ 0.0000,  0.0000],
                [-0.6931, -0.6931]])
    """
    x = (input if dtype is None else input.to(dtype)).coalesce()
    dim = dim % x.ndim
    values = x.values()
    if dim >= x.sparse_dim():
        return with_parts(x, x._indices(), values.log_softmax(dim - x.sparse_dim() + 1))
    group, lines = _groups(x, dim)
    sizes = lines, *values.shape[1:]
    plain = values._alias()
    most = _core.full(sizes, -math.inf, dtype=values.dtype, device=values.device).index_reduce(0, group, plain, "amax")
    shifted = values - most.index_select(0, group)
    total = _core.zeros(sizes, dtype=values.dtype, device=values.device).index_add(0, group, shifted.exp())
    return with_parts(x, x._indices(), shifted - total.log().index_select(0, group))


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """`exp(x)` over its sum along `dim`; what a sparse tensor does not specify counts as minus infinity.

    Arguments:
        input: of layout ``sparse_coo``.
        dim: a sparse or a dense dimension.
        dtype: to which `input` is converted first.

    Example::

        >>> ad.sparse.softmax(ad.tensor([[0.0, 2.0], [3.0, 3.0]]).to_sparse(), 1).to_dense()
        tensor([[0.0000, 1.0000],
                [0.5000, 0.5000]])
    """
    logarithm = log_softmax(input, dim, dtype=dtype)
    return with_parts(logarithm, logarithm._indices(), logarithm.values().exp())


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)` where `input`, of layout ``sparse_csr``, specifies values, and nowhere else.

    Arguments:
        input: (n, m), sparse.
        mat1: (n, k).
        mat2: (k, m).

    Example::

        >>> ad.sparse.sampled_addmm(ad.eye(2).to_sparse_csr(), ad.ones(2, 3), ad.ones(3, 2)).to_dense()
        tensor([[4., 0.],
                [0., 4.]])
    """
    if not input.is_sparse_csr:
        raise RuntimeError(f"sampled_addmm: expected input of layout sparse_csr, got {input.layout}")
    if (
        input.ndim != 2
        or mat1.ndim != 2
        or mat2.ndim != 2
        or (mat1.shape[0], mat2.shape[1]) != tuple(input.shape)
        or mat1.shape[1] != mat2.shape[0]
    ):
        shapes = f"{tuple(input.shape)}, {tuple(mat1.shape)} and {tuple(mat2.shape)}"
        raise ShapeError(f"sampled_addmm: expected shapes (n, m), (n, k) and (k, m), got {shapes}")
    rows, columns = input._indices()
    values = _core._sampled_addmm(input.values(), mat1, mat2.t(), rows, columns, beta, alpha)
    return with_parts(input, input._indices(), values)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: layout | None = None) -> Tensor:
    """A sparse matrix of `shape` with the rows of `diagonals` as its diagonals; column j of the matrix takes column j of `diagonals`.

    Arguments:
        diagonals: (k, n), or (n,) for one.
        offsets: k different integers: 0 is the main diagonal, those above it are positive.
        shape: (rows, columns).
        layout: of the result; ``sparse_coo`` by default.

    Example::

        >>> ad.sparse.spdiags(ad.tensor([[1.0, 2.0], [3.0, 4.0]]), ad.tensor([0, 1]), (2, 2)).to_dense()
        tensor([[1., 4.],
                [0., 2.]])
    """
    values, at = _core.atleast_2d(diagonals), offsets.reshape(-1)
    if values.ndim != 2 or len(shape) != 2 or values.shape[0] != at.numel() or at.unique().numel() != at.numel():
        given = f"{tuple(diagonals.shape)}, {at.tolist()} and {tuple(shape)}"
        raise ValueError(f"spdiags: expected (k, n) diagonals, k different offsets and a shape (rows, columns), got {given}")
    column = _core.arange(values.shape[1], device=values.device).expand(values.shape)
    row = column - at.to(_core.int64).unsqueeze(1)
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    out = sparse_coo_tensor(_core.stack([row[inside], column[inside]]), values[inside], tuple(shape))
    return out if layout is None else out.to_sparse(layout=layout)


class check_sparse_tensor_invariants(ContextDecorator):  # noqa: N801
    """Whether the positions of sparse tensors are checked when they are made: here always, so that this changes nothing.

    Example::

        >>> with ad.sparse.check_sparse_tensor_invariants():
        ...     ad.sparse.check_sparse_tensor_invariants.is_enabled()
        True
    """

    def __init__(self, enable: bool = True) -> None: ...

    @staticmethod
    def is_enabled() -> bool:
        """True."""
        return True

    @staticmethod
    def enable() -> None:
        """Nothing: they are checked."""

    @staticmethod
    def disable() -> None:
        """Nothing: they are checked all the same."""

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...
