"""record_function: ranges that the user names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from adjoint_engine import _engine

P = ParamSpec("P")
R = TypeVar("R")


class record_function:
    """Gives a block, or each call of a function, a name in profiles, NVTX and ITT.

    Arguments:
        name: what it is called.
        args: what else there is to say about it; shown in traces.

    Example::

        >>> with ad.autograd.profiler.profile() as prof:
        ...     with ad.autograd.profiler.record_function("half"):
        ...         y = ad.ones(3) / 2
        >>> [e.name for e in prof.function_events]
        ['half', 'aten::ones', 'aten::div']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[Any] = []  # it may be entered again before it is left

    def __enter__(self) -> record_function:
        self._open.append(_engine.Range(self.name, self.args))
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._open.pop().end()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapped
