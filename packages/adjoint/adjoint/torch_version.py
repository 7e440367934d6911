"""A version that compares with tuples and strings by its numbers."""

from __future__ import annotations

import re
from typing import Any


class TorchVersion(str):
    """The text of a version; `TorchVersion("2.13.0") >= (2, 4)` and `> "2.9"` compare numbers, not letters."""

    __slots__ = ()

    def _numbers(self, other: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        texts = self, other if isinstance(other, str) else ".".join(map(str, other))
        found = [[int(n) for n in re.findall(r"\d+", text.partition("+")[0])] for text in texts]
        width = max(map(len, found))
        return tuple(found[0] + [0] * (width - len(found[0]))), tuple(found[1] + [0] * (width - len(found[1])))

    def __lt__(self, other: Any) -> bool:
        a, b = self._numbers(other)
        return a < b

    def __le__(self, other: Any) -> bool:
        a, b = self._numbers(other)
        return a <= b

    def __gt__(self, other: Any) -> bool:
        a, b = self._numbers(other)
        return a > b

    def __ge__(self, other: Any) -> bool:
        a, b = self._numbers(other)
        return a >= b

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, (str, tuple, list)):
            return NotImplemented
        a, b = self._numbers(other)
        return a == b

    __hash__ = str.__hash__
