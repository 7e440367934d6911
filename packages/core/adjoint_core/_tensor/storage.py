"""The memory behind tensors."""

from __future__ import annotations

import mmap
import os
from typing import Any

from .. import _core
from .._compose import check_all, method
from .._core import Tensor

__all__ = ["Storage", "UntypedStorage", "is_storage"]


class Storage:
    """The memory that a tensor and its views share.

    Example::

        >>> x = ad.arange(4)
        >>> x[2:].untyped_storage().nbytes()
        32
    """

    def __init__(self, tensor: Tensor, itemsize: int) -> None:
        self._tensor, self._itemsize = tensor, itemsize

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._tensor.data_ptr() - self._tensor.storage_offset() * self._tensor.element_size()

    def nbytes(self) -> int:
        """How many bytes."""
        return self._tensor._storage_nbytes()

    def size(self) -> int:
        """How many elements; bytes if untyped."""
        return self.nbytes() // self._itemsize

    __len__ = size

    def element_size(self) -> int:
        """How many bytes an element has; 1 if untyped."""
        return self._itemsize

    def _flat(self) -> Tensor:
        x = self._tensor.detach()
        n = self.nbytes() // x.element_size()
        return x.as_strided((n,), (1,), 0)

    def is_shared(self) -> bool:
        """Whether other processes can see it."""
        return self._tensor.is_shared()

    def share_memory_(self) -> Storage:
        """Moves it to where other processes can see it; see `Tensor.share_memory_`."""
        self._tensor.share_memory_()
        return self

    def tolist(self) -> list[Any]:
        """The elements in the order of memory."""
        return self._flat().tolist()

    def __getitem__(self, i: int) -> Any:
        return self._flat()[i].item()


class UntypedStorage(Storage):
    """The memory that tensors share, counted in bytes.

    Arguments:
        size: how many bytes to make, or the tensor whose memory it is.

    Example::

        >>> ad.UntypedStorage(4).nbytes()
        4
    """

    def __init__(self, size: int | Tensor) -> None:
        super().__init__(size if isinstance(size, Tensor) else _core.empty(size, dtype=_core.uint8), 1)

    @staticmethod
    def from_file(filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, which is mapped: writing to them changes it if `shared`."""
        with open(filename, "r+b" if shared else "rb") as file:
            mapped = mmap.mmap(file.fileno(), nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
        return UntypedStorage(_core._from_buffer(memoryview(mapped), _core.uint8, share=True))

    def _flat(self) -> Tensor:
        return super()._flat().view(_core.uint8)

    def __getitem__(self, i: Any) -> Any:
        flat = self._flat()[i]
        return UntypedStorage(_core.from_dlpack(flat)) if isinstance(i, slice) else flat.item()  # of its own bytes alone

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def __dlpack__(self, **options: Any) -> Any:
        return self._flat().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._flat().__dlpack_device__()


@method
def storage(self: Tensor) -> Storage:
    """The memory behind this tensor, counted in its elements."""
    return Storage(self, self.element_size())


@method
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory behind this tensor, counted in bytes."""
    return UntypedStorage(self)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is the memory of a tensor.

    Example::

        >>> ad.is_storage(ad.zeros(2).untyped_storage())
        True
    """
    return isinstance(obj, Storage)


check_all(globals())
