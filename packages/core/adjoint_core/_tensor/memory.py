"""Other memory and other shapes for a tensor that stays the same object."""

from __future__ import annotations

import math

from .. import _core
from .._core import Tensor
from .naming import method
from .sparse import sparse_coo_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@method
def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Sequence[int] = ()
) -> Tensor:
    """Looks at other memory from now on; counts as a write to this tensor.

    Arguments:
        source: a tensor, whose memory and shape it takes, or a `Storage`; none empties the tensor.
        storage_offset: the first element in that memory.
        size: the shape; that of `source` by default, all of a storage.
        stride: of each dimension; those of a contiguous tensor by default.

    Example::

        >>> y = ad.arange(10.0)
        >>> ad.empty(0).set_(y.storage(), 1, (2, 2), (4, 1))
        tensor([[1., 2.],
                [5., 6.]])
    """
    place = _core.empty(0, dtype=self.dtype, device=self.device) if source is None else source
    flat = place if isinstance(place, Tensor) else place._flat()
    if flat.dtype != self.dtype:
        if isinstance(place, Tensor):
            raise RuntimeError(f"set_: Expected a source of the type of the tensor, {self.dtype}, got {flat.dtype}")
        flat = flat.view(self.dtype)
    if size is not None:
        flat = flat._alias().as_strided(size, stride or _core.empty(size, dtype=self.dtype).stride(), storage_offset)
    self._bump_version()
    self._set_data(flat, True)
    return self


def _reorder(x: Tensor, memory_format: Any) -> None:
    """Gives the elements in memory the places that the format has for this shape; nothing moves."""
    x._set_data(x._alias().as_strided(x.shape, _core.empty(x.shape, memory_format=memory_format).stride()), True)


def _expect_no_grad(x: Tensor) -> None:
    if x.requires_grad:
        raise RuntimeError("resize_: cannot resize variables that require grad")


@method
def resize_(self: Tensor, *sizes: Any, size: Any = None, memory_format: Any = _core.contiguous_format) -> Tensor:
    """Changes the shape in place; memory grows if it must, and new elements are uninitialised.

    Raises:
        RuntimeError: memory that views, NumPy arrays or a graph share would have to grow; the tensor requires grad; `preserve_format`.
    """
    _expect_no_grad(self)
    given = sizes if size is None else (size,)
    shape = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    if memory_format is _core.preserve_format:
        raise RuntimeError(f"resize_: Unsupported memory format {memory_format}")
    if _core._is_sparse(self):
        if self._nnz():
            raise RuntimeError(f"resize_: a sparse tensor must be empty, got one of {self._nnz()} elements")
        self._bump_version()
        self._set_data(sparse_coo_tensor(shape, dtype=self.dtype, device=self.device), True)
        return self
    if tuple(shape) != tuple(self.shape):
        n = math.prod(shape)
        if n > self.numel() and self._memory_is_shared():
            raise RuntimeError("resize_: Trying to resize storage that is not resizable: others share its memory")
        flat = self._alias().reshape(-1)
        if n > flat.numel():
            flat = _core.cat([flat, _core.empty(n - flat.numel(), dtype=self.dtype, device=self.device)])
        self._bump_version()
        self._set_data(flat[:n].view(tuple(shape)), True)
    if memory_format is not _core.contiguous_format:
        _reorder(self, memory_format)
    return self


@method
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """Changes the shape in place to that of `other`, and with a memory format the order; `preserve_format` takes that of `other`."""
    _expect_no_grad(self)
    if memory_format is None and self.shape == other.shape and not _core._is_sparse(self):
        return self
    resize_(self, tuple(other.shape))
    if memory_format is _core.preserve_format:
        formats = _core.channels_last, _core.channels_last_3d, _core.contiguous_format
        memory_format = next(f for f in formats if f is formats[-1] or other.is_contiguous(memory_format=f))
    if memory_format is not None:
        _reorder(self, memory_format)
    return self
