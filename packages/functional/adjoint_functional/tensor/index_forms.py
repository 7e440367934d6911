"""Shapes and positions in other forms: names of PyTorch's private corners that libraries of sparse matrices use."""

from __future__ import annotations

import adjoint_core as core
from adjoint_core import Tensor

__all__ = [
    "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo",
    "_shape_as_tensor",
]


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The shape as a tensor of int64.

    Example::

        >>> ad._shape_as_tensor(ad.zeros(2, 3))
        tensor([2, 3])
    """
    return core.tensor(list(self.shape), dtype=core.int64)


def _convert_indices_from_coo_to_csr(indices: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins, and where the last ends, of sorted rows of elements (n): (size + 1).

    Example::

        >>> ad._convert_indices_from_coo_to_csr(ad.tensor([0, 0, 2]), 3)
        tensor([0, 2, 2, 3])
    """
    if indices.dim() != 1 or indices.is_floating_point():
        raise RuntimeError(
            f"_convert_indices_from_coo_to_csr: expected row numbers of one dimension, got shape {tuple(indices.shape)}"
        )
    ends = core.bincount(indices, minlength=size).cumsum(0)
    return core.cat([core.zeros(1, dtype=core.int64, device=indices.device), ends]).to(core.int32 if out_int32 else core.int64)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each element (2, n), of where rows begin and of the columns; with `transpose`, columns first.

    Example::

        >>> ad._convert_indices_from_csr_to_coo(ad.tensor([0, 2, 2, 3]), ad.tensor([0, 1, 0]))
        tensor([[0, 0, 2],
                [0, 1, 0]])
    """
    if crow_indices.dim() != 1 or col_indices.dim() != 1:
        raise RuntimeError("_convert_indices_from_csr_to_coo: expected indices of one dimension")
    rows = core.arange(crow_indices.numel() - 1, device=crow_indices.device).repeat_interleave(crow_indices.diff())
    pair = [col_indices, rows] if transpose else [rows, col_indices]
    kind = core.int32 if out_int32 else core.int64
    return core.stack([part.to(kind) for part in pair])
