"""The memory behind tensors."""

from __future__ import annotations

import mmap
import os
from typing import Any

from .. import _core
from .._compose import check_all, method
from .._core import Tensor

__all__ = ["Storage", "UntypedStorage", "from_file", "is_storage"]


def _mapped(filename: str | os.PathLike[str], shared: bool, nbytes: int) -> Tensor:
    """The first bytes of a file, of 0: all, which are read when they are used."""
    if nbytes < 0:
        raise RuntimeError(f"from_file: the size must not be negative, got {nbytes} bytes")
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    with open(filename, "r+b" if shared else "rb", opener=lambda path, _: os.open(path, flags, 0o666)) as file:
        there = os.fstat(file.fileno()).st_size
        if shared and there < nbytes:
            file.truncate(nbytes)
        elif there < nbytes:
            raise RuntimeError(
                f"from_file: file {os.fspath(filename)} has {there} bytes, fewer than the {nbytes} of the mapping"
            )
        mapped = mmap.mmap(file.fileno(), nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    return _core._from_buffer(memoryview(mapped), _core.uint8, share=True)


def from_file(
    filename: str | os.PathLike[str],
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The first `size` elements of a file, which is mapped: they are read when they are used.

    Arguments:
        shared: writes change the file, which is made as long as it has to be; else they stay here.

    Raises:
        RuntimeError: the file is too short, or `size` is negative.

    Example::

        >>> file = tempfile.NamedTemporaryFile()
        >>> ad.from_file(file.name, shared=True, size=3).fill_(2)
        tensor([2., 2., 2.])
    """
    dtype = dtype or _core.get_default_dtype()
    found = _mapped(filename, bool(shared), size * dtype.itemsize) if size else _core.empty(0, dtype=_core.uint8)
    return found.view(dtype).to(device or "cpu").requires_grad_(requires_grad)


class Storage:
    """The memory that a tensor and its views share.

    Example::

        >>> x = ad.arange(4)
        >>> x[2:].untyped_storage().nbytes()
        32
    """

    _own = False  # whether its tensor is nobody else's

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

    @property
    def device(self) -> Any:
        """Where it lies."""
        return self._tensor.device

    @property
    def is_cuda(self) -> bool:
        """Whether it is memory of a GPU."""
        return self._tensor.is_cuda

    def _bytes(self) -> Tensor:
        return Storage._flat(self).view(_core.uint8)

    def _made(self, tensor: Tensor) -> Storage:
        """One of its own kind, of other memory."""
        made = object.__new__(type(self))
        Storage.__init__(made, tensor, self._itemsize)
        made._own = True
        return made

    def resize_(self, size: int) -> Storage:
        """Gives it so many elements, bytes if untyped: what was there is kept, what is new is not initialised.

        Raises:
            RuntimeError: others look at the memory, or the tensor whose memory it is needs more.
        """
        x, nbytes = self._tensor, size * self._itemsize
        reach = x.storage_offset() + sum((n - 1) * s for n, s in zip(x.shape, x.stride())) + 1 if x.numel() else 0
        needed = 0 if self._own else reach * x.element_size()
        if nbytes < needed or x._memory_is_shared():
            raise RuntimeError(
                f"Storage.resize_: others look at the memory, or a tensor that needs {needed} bytes, got {nbytes} bytes"
            )
        moved, kept = _core.empty(nbytes, dtype=_core.uint8, device=x.device), min(nbytes, self.nbytes())
        moved[:kept] = self._bytes()[:kept]
        if self._own:
            self._tensor = moved.view(x.dtype)
        else:
            x._set_data(moved.view(x.dtype).as_strided(x.shape, x.stride(), x.storage_offset()), True)
        return self

    def untyped(self) -> UntypedStorage:
        """The same memory, counted in bytes."""
        return UntypedStorage(self._tensor)

    def __repr__(self) -> str:
        name = f"{type(self).__module__}.{type(self).__name__}"
        lines = "".join(f" {v}\n" for v in self.tolist())
        return f"{lines}[{name}({self._shown()}device={self.device}) of size {self.size()}]"

    def _shown(self) -> str:
        return ""

    def copy_(self, source: Storage, non_blocking: bool | None = None) -> Storage:
        """Writes the bytes of another, of as many."""
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"Storage.copy_: size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._bytes().copy_(source._bytes(), bool(non_blocking))
        return self

    def fill_(self, value: Any) -> Storage:
        """Writes a number into every element."""
        self._flat().fill_(self._value(value))
        return self

    def clone(self) -> Storage:
        """A copy."""
        return self._made(self._flat().clone())

    def cpu(self) -> Storage:
        """Itself, or a copy in memory of the host."""
        return self._made(self._flat().cpu()) if self.is_cuda else self

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

    def __setitem__(self, i: int | slice, value: Any) -> None:
        if isinstance(i, bool) or not isinstance(i, (int, slice)):
            raise TypeError(f"Storage: elements are written at a position or a slice, got {type(i).__name__}")
        if isinstance(i, slice) and i.step not in (None, 1):
            raise RuntimeError(f"Storage: a slice has step 1, got {i.step}")
        self._flat()[i] = self._value(value)

    def _value(self, value: Any) -> Any:
        return value


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
        self._own = not isinstance(size, Tensor)

    @staticmethod
    def from_file(filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, which is mapped: writing to them changes it if `shared`, which makes it as long as it has to be."""
        return UntypedStorage(_mapped(filename, shared, nbytes))

    def _flat(self) -> Tensor:
        return self._bytes()

    def _value(self, value: Any) -> int:
        """As a byte, which wraps."""
        if not isinstance(value, int):
            raise RuntimeError(f"UntypedStorage: a byte is an int, got {type(value).__name__}")
        return value & 0xFF

    def __getitem__(self, i: Any) -> Any:
        flat = self._flat()[i]
        return UntypedStorage(_core.from_dlpack(flat)) if isinstance(i, slice) else flat.item()  # of its own bytes alone

    @staticmethod
    def from_buffer(buffer: Any, *args: Any, **kwargs: Any) -> UntypedStorage:
        """A copy of the bytes of a buffer."""
        return UntypedStorage(_core._from_buffer(memoryview(buffer).cast("B"), _core.uint8, share=False))

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def __dlpack__(self, **options: Any) -> Any:
        return self._flat().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._flat().__dlpack_device__()


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
