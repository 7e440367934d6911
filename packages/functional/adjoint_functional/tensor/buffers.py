"""Tensors over memory that Python objects lend."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core, dtype
from adjoint_core._tensor.naming import as_dtype

__all__ = ["frombuffer"]


def frombuffer(buffer: Any, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor of one dimension over the memory of `buffer`: `count` elements (all if negative) from byte `offset` on.

    What cannot be written to, such as `bytes`, or does not lie at a multiple of the element size is copied.

    Raises:
        ValueError: no buffer, nothing in it, or elements that do not lie in it.

    Example::

        >>> ad.frombuffer(bytearray([1, 0, 2, 0]), dtype=ad.int16)
        tensor([1, 2], dtype=adjoint.int16)
    """
    try:
        memory = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError(f"frombuffer: object does not implement Python buffer protocol, got {type(buffer).__name__}") from None
    dtype = as_dtype(dtype)
    length, size = memory.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"frombuffer: both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"frombuffer: buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
        )
    n = (length - offset) // size if count < 0 else count
    if offset + n * size > length:
        raise ValueError(
            f"frombuffer: requested buffer length ({n} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    return _core._from_buffer(memory[offset : offset + n * size], dtype, share=True).requires_grad_(requires_grad)
