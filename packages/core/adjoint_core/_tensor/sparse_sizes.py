"""Sparse tensors in coordinate form in place: other sizes, and whether their positions are in order."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from .._core import Tensor


def _become(self: Tensor, indices: Tensor, values: Tensor, size: Sequence[int], coalesced: bool) -> Tensor:
    """The tensor, which counts a write and holds these parts from now on."""
    if self.is_leaf and self.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    self._set_data(_core._sparse_coo_tensor(values, indices, size, coalesced), keeps_version=True)
    self._bump_version()
    return self


def _expect_coo(self: Tensor, op: str) -> None:
    if not self.is_sparse:
        raise NotImplementedError(f"{op}: expected a tensor of layout sparse_coo, got one of layout {self.layout}")


def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Promises that the positions are in row-major order and differ, or takes that back; nothing is checked."""
    _expect_coo(self, "_coalesced_")
    return _become(self, self._indices(), self._values(), self.shape, coalesced)


def _check_sizes(op: str, size: Sequence[int], sparse_dim: int, dense_dim: int) -> None:
    if sparse_dim + dense_dim != len(size) or sparse_dim < 0 or dense_dim < 0:
        raise RuntimeError(
            f"{op}: sparse_dim + dense_dim must be the number of sizes, got {sparse_dim} + {dense_dim} and sizes {list(size)}"
        )


def _sparse_resize_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Other sizes, of which the first `sparse_dim` are sparse; new elements of dense dimensions are 0.

    Raises:
        RuntimeError: values are specified, and a dimension would become smaller, or sparse and dense ones other in number.
    """
    _expect_coo(self, "sparse_resize_")
    _check_sizes("sparse_resize_", size, sparse_dim, dense_dim)
    if self._nnz() == 0:
        return _sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)
    if (sparse_dim, dense_dim) != (self.sparse_dim(), self.dense_dim()) or any(new < n for new, n in zip(size, self.shape)):
        raise RuntimeError(
            f"sparse_resize_: of a tensor with values, dimensions can neither shrink nor change in number, got sizes {list(size)} with "
            f"{sparse_dim} sparse ones for {list(self.shape)} with {self.sparse_dim()}; sparse_resize_and_clear_ drops its values"
        )
    more = [0, *(new - n for new, n in zip(size[sparse_dim:], self.shape[sparse_dim:]))]
    values = _core._pad(self._values(), [0] * len(more), more, 0.0) if any(more) else self._values()
    return _become(self, self._indices(), values, size, self.is_coalesced())


def _sparse_resize_and_clear_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Other sizes, of which the first `sparse_dim` are sparse, and no values."""
    _expect_coo(self, "sparse_resize_and_clear_")
    _check_sizes("sparse_resize_and_clear_", size, sparse_dim, dense_dim)
    values = self._values().new_empty((0, *size[sparse_dim:]))
    return _become(self, self._indices().new_empty((sparse_dim, 0)), values, size, True)


Tensor._coalesced_, Tensor.sparse_resize_, Tensor.sparse_resize_and_clear_ = (
    _coalesced_,
    _sparse_resize_,
    _sparse_resize_and_clear_,
)
