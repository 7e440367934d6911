"""The Python frames of a thread while it is profiled: which function was called when, from which line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any

import adjoint_core
import adjoint_engine

_LIBRARY = tuple(os.path.dirname(m) + os.sep for m in (__file__, adjoint_core.__file__ or "", adjoint_engine.__file__ or ""))
_FACE = os.sep + "adjoint" + os.sep  # the packages that re-export


def is_library(code: CodeType) -> bool:
    """Whether it is ours and not the user's."""
    return code.co_filename.startswith(_LIBRARY) or (_FACE + "autograd" + os.sep) in code.co_filename


@dataclass
class Call:
    """One call of a Python function: when (nanoseconds), and from which line of its caller."""

    code: CodeType
    line: int
    start: int
    end: int
    depth: int

    @property
    def name(self) -> str:
        return f"{self.code.co_filename}({self.code.co_firstlineno}): {self.code.co_name}"


class Frames:
    """Records the calls and returns of this thread between start and stop."""

    def __init__(self) -> None:
        self._log: list[tuple[int, CodeType | None, int]] = []  # a return has no code
        self._before: Callable[[FrameType, str, Any], object] | None = None

    def start(self) -> None:
        """Begins with the frames that are open now."""
        open_frames: list[FrameType] = []
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            open_frames.append(frame)
            frame = frame.f_back
        now = perf_counter_ns()
        for frame in reversed(open_frames):
            self._log.append((now, frame.f_code, frame.f_back.f_lineno if frame.f_back else 0))
        self._before = sys.getprofile()
        sys.setprofile(self._on_event)

    def stop(self) -> None:
        """Calls that are open end now."""
        sys.setprofile(self._before)

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            caller = frame.f_back
            self._log.append((perf_counter_ns(), frame.f_code, caller.f_lineno if caller else 0))
        elif event == "return":
            self._log.append((perf_counter_ns(), None, 0))

    def calls(self, end: int) -> list[Call]:
        """All calls of the user's functions, in the order in which they began."""
        found: list[Call] = []
        stack: list[Call] = []
        for time, code, line in self._log:
            if code is not None:
                call = Call(code, line, time, end, len(stack))
                stack.append(call)
                if not is_library(code):
                    found.append(call)
            elif stack:
                stack.pop().end = time
        return found

    def stacks(self, at: Iterable[tuple[int, int]]) -> Iterator[list[str]]:
        """The stack at each of the times, which grow: "file(line): function", innermost first.

        Arguments:
            at: pairs of a time and the line of the innermost frame of the user's.
        """
        stack: list[tuple[CodeType, int]] = []
        i = 0
        for time, line in at:
            while i < len(self._log) and self._log[i][0] <= time:
                _, code, called_from = self._log[i]
                if code is not None:
                    stack.append((code, called_from))
                elif stack:
                    stack.pop()
                i += 1
            yield _describe(stack, line)


def _describe(stack: list[tuple[CodeType, int]], line: int) -> list[str]:
    lines = [called_from for _, called_from in stack[1:]] + [line]
    frames = [
        f"{code.co_filename}({at}): {code.co_name}" for (code, _), at in zip(stack, lines, strict=True) if not is_library(code)
    ]
    return frames[::-1]
