"""What a checkpointed function did in each of its two runs: for the error that shows where they differ."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from .. import _engine

_ERROR = """ERROR: Detected non-determinism while running activation checkpointing

You are seeing this error because you passed `debug=True` to checkpoint and tensors to be saved during the original forward and differ
between those saved during recomputation. This can happen if different operators were ran in the original forward and in the recomputation.

Operations executed during the original forward:

{first}

Operations executed during recomputation:

{second}
"""


def _line() -> str:
    """Where the user's code called the operation."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("adjoint_"):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class RunLog:
    """A context that writes down the operations inside it, with the shapes of their operands and the user's lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __enter__(self) -> None:
        self._watch = _engine.Callbacks(self._begin, lambda: None)
        self._watch.start()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._watch.stop()

    def _begin(self, kind: str, name: str, ranks: Any, sequence: Any, shapes: list[Any]) -> None:
        if kind in ("op", "in_place"):
            operands = ", ".join("None" if s is None else str(list(s)) for s in shapes)
            self.lines.append(f"  {name}({operands})  {_line()}")


def difference(first: RunLog, second: RunLog) -> str:
    """The message with both logs."""
    return _ERROR.format(first="\n".join(first.lines), second="\n".join(second.lines))
