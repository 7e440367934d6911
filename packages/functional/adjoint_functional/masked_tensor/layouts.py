"""Values of dense and sparse tensors: what a mask and its data share is where they lie."""

from __future__ import annotations

import adjoint_core as core
from adjoint_core import Tensor

__all__ = ["dense", "indices_of", "is_sparse", "same", "values_of", "with_values"]


def is_sparse(t: Tensor) -> bool:
    """Whether values and their places are all that is kept."""
    return t.layout is not core.strided


def indices_of(t: Tensor) -> tuple[Tensor, ...]:
    """Where the values of a sparse tensor lie."""
    return (t._indices(),) if t.layout is core.sparse_coo else (t.crow_indices(), t.col_indices())


def values_of(t: Tensor) -> Tensor:
    """The values of a sparse tensor, and a dense one itself."""
    return t if not is_sparse(t) else t._values() if t.layout is core.sparse_coo else t.values()


def with_values(t: Tensor, values: Tensor) -> Tensor:
    """Other values in the places of a sparse tensor's."""
    if t.layout is core.sparse_coo:
        return core.sparse_coo_tensor(*indices_of(t), values, t.shape).coalesce()
    return core.sparse_csr_tensor(*indices_of(t), values, t.shape) if is_sparse(t) else values


def dense(t: Tensor) -> Tensor:
    """With zeros, or False, where a sparse tensor has nothing."""
    return t.to_dense() if is_sparse(t) else t


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two masks, or places, are equal."""
    if a.layout is not b.layout or a.shape != b.shape:
        return False
    if is_sparse(a):
        return same(values_of(a), values_of(b)) and all(same(i, j) for i, j in zip(indices_of(a), indices_of(b), strict=True))
    return core.equal(a, b)
