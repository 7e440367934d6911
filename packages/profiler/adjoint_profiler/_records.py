"""Names and memory records in the form in which tracers give them."""

from __future__ import annotations

import ctypes
import ctypes.util
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any


class MemRecordsAcc:
    """Finds memory records by their time.

    Arguments:
        mem_records: pairs of a record, which has start_ns(), and anything else.
    """

    def __init__(self, mem_records: Sequence[tuple[Any, Any]]) -> None:
        self._records = sorted(mem_records, key=lambda r: r[0].start_ns())
        self._times = [r[0].start_ns() for r in self._records]

    def in_interval(self, start_ns: int, end_ns: int) -> Iterator[tuple[Any, Any]]:
        """The records of that time, both ends included, the earliest first."""
        first, last = bisect_left(self._times, start_ns), bisect_right(self._times, end_ns)
        yield from self._records[first:last]


class StringTable(defaultdict[str, str]):
    """Names of C++ functions as people write them; other names stay as they are.

    Example::

        >>> StringTable()["_ZN7adjoint3mulERKNS_6TensorES2_"]
        'adjoint::mul(adjoint::Tensor const&, adjoint::Tensor const&)'
    """

    def __missing__(self, key: str) -> str:
        # One letter would be taken for a type: "t" for unsigned short.
        self[key] = demangled(key) if len(key) > 1 else key
        return self[key]


def demangled(name: str) -> str:
    """The C++ name behind a symbol; `name` itself if it is none, or if no C++ library can say."""
    if not name.startswith("_Z"):
        return name
    library = ctypes.util.find_library("stdc++") or ctypes.util.find_library("c++")
    if library is None:
        return name
    demangle = ctypes.CDLL(library).__cxa_demangle
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    found = demangle(name.encode(), None, None, ctypes.byref(status))
    if not found:
        return name
    text = ctypes.string_at(found).decode()
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(found)
    return text
