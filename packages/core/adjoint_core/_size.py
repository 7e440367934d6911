"""`Size`: the shape of a tensor."""

from __future__ import annotations

import math
from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsIndex


class Size(tuple[int, ...]):
    """A tuple of dimension sizes.

    Example:
        >>> Size((2, 3)).numel()
        6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        """Sizes that are no integers but stand for some, such as tensors, become integers.

        Raises:
            TypeError: one is neither.
        """
        sizes = tuple(sizes)
        for n, size in enumerate(sizes):
            if not isinstance(size, int) and not hasattr(size, "__index__"):
                raise TypeError(f"Size() takes an iterable of 'int' (item {n} is '{type(size).__name__}')")
        return tuple.__new__(cls, map(index, sizes))

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        from ._core import _library  # which imports this module

        return f"{_library()}.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:  # type: ignore[override]
        item = tuple.__getitem__(self, key)
        return tuple.__new__(Size, item) if isinstance(key, slice) else item

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, n: SupportsIndex) -> Size:
        return tuple.__new__(Size, tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)
