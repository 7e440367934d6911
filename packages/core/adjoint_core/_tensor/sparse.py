"""Sparse tensors in coordinate form: `sparse_coo_tensor`, and what `Tensor` has for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from .compressed import compress, shown_values
from .layouts import BLOCKS, LAYOUTS, layout, sparse_coo, strided


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A sparse tensor: `values` at `indices`, zero elsewhere; values at one position add up.

    Arguments:
        indices: integers, (sparse dims, nnz); or, without `values`, the size of a tensor without values.
        values: (nnz, dense dims...); gradients flow to it.
        size: sparse, then dense dimensions; the smallest that hold all positions by default.
        dtype: of the values.
        requires_grad: whether the result is a leaf whose gradient is wanted.
        check_invariants: accepted; positions are always checked.
        is_coalesced: a promise that the positions are in order and differ.

    Raises:
        IndexError: a position lies outside of `size`.
        ShapeError: `indices`, `values` and `size` do not fit together.

    Example::

        >>> x = sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
        >>> x.to_dense()
        tensor([[0., 0., 3.],
                [4., 0., 0.]])
    """
    if values is None:
        if indices is None and size is None:
            raise TypeError("sparse_coo_tensor: indices and values, or a size, must be given, got neither")
        shape = tuple(indices) if size is None else tuple(size)
        indices = _core.zeros(len(shape), 0, dtype=_core.int64)
        values, size, is_coalesced = _core.zeros(0, dtype=dtype, device=device), shape, True
    if not isinstance(indices, Tensor):
        indices = _core.tensor(indices, dtype=_core.int64)
    if indices.is_floating_point():
        given, indices = indices, indices.to(_core.int64)
        if bool((given != indices).any()):
            raise TypeError(f"sparse_coo_tensor: indices must be whole numbers, got {given}")
    values = _core.as_tensor(values, dtype=dtype, device=device)
    if values.ndim == 0:
        values = values.expand(1)
    if requires_grad:
        values = values.detach()
    out = _core._sparse_coo_tensor(values, indices, None if size is None else tuple(size), bool(is_coalesced))
    return out.requires_grad_() if requires_grad else out


def _to_sparse(
    self: Tensor,
    sparse_dim: int | layout | None = None,
    *,
    layout: layout | None = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """The elements that are not zero, as a sparse tensor whose first `sparse_dim` dimensions are sparse (all by default).

    Arguments:
        layout: ``sparse_coo``, or a compressed one; of those, dimensions before the last two sparse ones are batches.
        blocksize: (rows, columns) of the blocks of ``sparse_bsr`` and ``sparse_bsc``.
        dense_dim: how many trailing dimensions are dense.
    """
    wanted = layout or sparse_coo
    if wanted is strided:
        return self.to_dense()
    if (blocksize is not None) != (wanted in BLOCKS):
        given = "without blocksize" if blocksize is None else "with blocksize"
        raise RuntimeError(f"to_sparse: conversion to {wanted} {given} argument given is not supported")
    if dense_dim is not None:
        sparse_dim = self.ndim - dense_dim
    return compress(self, wanted, blocksize, sparse_dim)


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The strided tensor with these values.

    Arguments:
        dtype: of the result.
        masked_grad: whether the gradient of a sparse tensor is taken only where it specifies values (the default).
    """
    out = self._masked_gradient() if _core._is_sparse(self) and masked_grad is not False else self
    out = out._to_dense()
    return out if dtype is None else out.to(dtype)


Tensor.to_sparse, Tensor.to_dense = _to_sparse, _to_dense


def _layout(self: Tensor) -> layout:
    """How the elements lie in memory."""
    return LAYOUTS[_core._compression(self)[0] + 1]


def _values(self: Tensor) -> Tensor:
    """The values of a coalesced or compressed sparse tensor: (nnz, dense dims...), (batch..., nnz, dense dims...) or
    (batch..., blocks, rows, columns, dense dims...)."""
    return self._sparse_values() if self.is_sparse else shown_values(self)


Tensor.values = _values
Tensor.is_sparse = property(lambda self: _core._compression(self)[0] == 0, doc="Whether the layout is ``sparse_coo``.")
Tensor.layout = property(_layout, doc=_layout.__doc__)
