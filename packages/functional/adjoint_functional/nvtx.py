"""`cuda.nvtx`: ranges and marks in the timeline of NVIDIA's tools, by the package `nvtx`; without it nobody looks, and they are nothing."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = 0


@functools.cache
def _tool() -> ModuleType | None:
    try:
        return importlib.import_module("nvtx")
    except ImportError:
        return None


def range_push(msg: str) -> int:
    """Begins a range within those that this process has begun; how many there were.

    Example::

        >>> ad.cuda.nvtx.range_push("forward"), ad.cuda.nvtx.range_pop()
        (0, 0)
    """
    global _depth
    if (tool := _tool()) is not None:
        tool.push_range(msg)
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """Ends the innermost range; how many are left, -1 if there was none."""
    global _depth
    if _depth == 0:
        return -1
    if (tool := _tool()) is not None:
        tool.pop_range()
    _depth -= 1
    return _depth


def range_start(msg: str) -> Any:
    """Begins a range that `range_end` of what this gives ends, in whatever order."""
    return None if (tool := _tool()) is None else tool.start_range(msg)


def range_end(range_id: Any) -> None:
    """Ends a range of `range_start`."""
    if (tool := _tool()) is not None:
        tool.end_range(range_id)


def mark(msg: str) -> None:
    """A moment with a name."""
    if (tool := _tool()) is not None:
        tool.mark(msg)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around a `with` or a function; `msg` is formatted with what follows it.

    Example::

        >>> with ad.cuda.nvtx.range("step {}", 3):
        ...     y = ad.ones(1)
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
