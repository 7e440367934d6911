"""Sizes of ragged dimensions, and shapes that have one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from adjoint_core import Size, _core

_numbers = itertools.count(1)


class RaggedSize(int):
    """The size of a ragged dimension, which differs from piece to piece: batches of the same structure have the same one."""

    number: int

    def __new__(cls) -> RaggedSize:
        """One that no other batch has; as a number it is -1."""
        size = super().__new__(cls, -1)
        size.number = next(_numbers)
        return size

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return hash(self.number)

    def __repr__(self) -> str:
        return f"j{self.number}"

    __str__ = __repr__


class RaggedShape(Size):
    """A shape with a ragged size."""

    def __new__(cls, sizes: Sequence[int]) -> RaggedShape:
        """The sizes as they are."""
        return tuple.__new__(cls, sizes)

    def __repr__(self) -> str:
        return f"{_core._library()}.Size([{', '.join(map(str, self))}])"
