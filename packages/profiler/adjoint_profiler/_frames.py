"""The Python frames of a thread while it is profiled: which function was called when, from which line."""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any
from weakref import ReferenceType, ref

from adjoint_core import _core

_FACE = os.sep + os.path.join("adjoint", "autograd") + os.sep  # which re-exports


class Library:
    """Which code is ours and not the user's: that in the folders whose lines errors do not name either."""

    def __init__(self) -> None:
        self._folders = (os.path.dirname(__file__) + os.sep, *_core._skipped())

    def __contains__(self, code: CodeType) -> bool:
        return code.co_filename.startswith(self._folders) or _FACE in code.co_filename


@dataclass
class Call:
    """One call of a Python function: when (nanoseconds), and from which line of its caller."""

    code: CodeType
    line: int
    start: int
    end: int
    depth: int
    module: str | None = None  # what is called, if that is a module

    @property
    def name(self) -> str:
        return self.module or f"{_short(self.code.co_filename)}({self.code.co_firstlineno}): {self.code.co_name}"


@functools.cache
def _short(path: str) -> str:
    """Of a file, as it is imported: without the longest folder of sys.path that it is in."""
    folders = [folder.rstrip(os.sep) + os.sep for folder in (*map(os.path.abspath, sys.path), os.path.dirname(os.__file__))]
    return path[max((len(f) for f in folders if path.startswith(f)), default=0) :]


class Modules:
    """Gives each module a name by its class, in the order in which they are called: nn.Module: Linear_0."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[ReferenceType[Any], str]] = {}  # another may take the address of one that is gone
        self._count: Counter[str] = Counter()

    def name(self, frame: FrameType) -> str | None:
        """Of the module whose `_call_impl` this is; None: it is no module's."""
        try:
            return self._name_of(frame.f_locals.get("self"))
        except Exception:  # in the middle of a call of the user's, which would fail
            return None

    def _name_of(self, x: Any) -> str | None:
        if not _is_module(x):
            return None
        known = self._names.get(id(x))
        if known is None or known[0]() is not x:
            kind = type(x).__name__
            known = self._names[id(x)] = ref(x), f"nn.Module: {kind}_{self._count[kind]}"
            self._count[kind] += 1
        return known[1]


def _is_module(x: Any) -> bool:
    """Looks past the `__getattr__` of the user's class, which may do anything."""
    attributes = object.__getattribute__(x, "__dict__")
    return issubclass(type(attributes), dict) and issubclass(type(dict.get(attributes, "_modules")), dict)


class Frames:
    """Records the calls and returns of this thread between start and stop."""

    def __init__(self) -> None:
        self._log: list[tuple[int, CodeType | None, int, str | None]] = []  # a return has no code
        self._modules = Modules()
        self._before: Callable[[FrameType, str, Any], object] | None = None

    def start(self) -> None:
        """Begins with the frames that are open now."""
        open_calls: list[tuple[CodeType, int]] = []  # no frames: this one is among them, and would hold itself
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            open_calls.append((frame.f_code, frame.f_back.f_lineno if frame.f_back else 0))
            frame = frame.f_back
        now = perf_counter_ns()
        self._log.extend((now, code, line, None) for code, line in reversed(open_calls))
        self._before = sys.getprofile()
        sys.setprofile(self._on_event)

    def stop(self) -> None:
        """Calls that are open end now."""
        sys.setprofile(self._before)

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            caller, code = frame.f_back, frame.f_code
            module = self._modules.name(frame) if code.co_name == "_call_impl" else None
            self._log.append((perf_counter_ns(), code, caller.f_lineno if caller else 0, module))
        elif event == "return":
            self._log.append((perf_counter_ns(), None, 0, None))

    def calls(self, end: int) -> list[Call]:
        """All calls of the user's functions, in the order in which they began."""
        found: list[Call] = []
        stack: list[Call] = []
        library = Library()
        for time, code, line, module in self._log:
            if code is not None:
                call = Call(code, line, time, end, len(stack), module)
                stack.append(call)
                if module or code not in library:
                    found.append(call)
            elif stack:
                stack.pop().end = time
        return found

    def stacks(self, at: Iterable[tuple[int, int]]) -> Iterator[list[str]]:
        """The stack at each of the times, which grow: "file(line): function", innermost first.

        Arguments:
            at: pairs of a time and the line of the innermost frame of the user's.
        """
        stack: list[tuple[CodeType, int, str | None]] = []
        library = Library()
        i = 0
        for time, line in at:
            while i < len(self._log) and self._log[i][0] <= time:
                _, code, called_from, module = self._log[i]
                if code is not None:
                    stack.append((code, called_from, module))
                elif stack:
                    stack.pop()
                i += 1
            yield _describe(stack, line, library)


def _describe(stack: list[tuple[CodeType, int, str | None]], line: int, library: Library) -> list[str]:
    lines = [called_from for _, called_from, _ in stack[1:]] + [line]
    frames = [
        module or f"{code.co_filename}({at}): {code.co_name}"
        for (code, _, module), at in zip(stack, lines, strict=True)
        if module or code not in library
    ]
    return frames[::-1]
