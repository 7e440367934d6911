"""Where the first nan (or inf) came from: the operation, its operands at that place, the user's lines."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .. import _engine
from .._modes.thread_locals import Local
from .non_finite import describe

_watches = Local()


class detect_nan:  # noqa: N801  a context manager, as detect_anomaly is
    """Raises at the first operation, forward or backward, that makes a nan; cheap enough to leave on.

    The error names the operation, the index, the operands there and the lines of the user's program. A nan that comes with the
    data is reported by the first operation that passes it on. A derivative rule may meet a nan that it masks. Works for this
    thread; the innermost block counts.

    Arguments:
        enabled: False switches it off inside the block.
        inf: also raise where finite operands give an infinity.

    Raises:
        NonFiniteError: inside the block, with the facts as attributes.

    Example::

        >>> x = ad.tensor([4., 0.], requires_grad=True)
        >>> try:
        ...     with ad.autograd.detect_nan():
        ...         (x.sqrt() * 0).sum().backward()
        ... except ad.autograd.NonFiniteError as error:
        ...     print(str(error).splitlines()[0])
        detect_nan: div in SqrtBackward0 made nan at index (1,), in 1 of 2 elements of float32[2]
    """

    def __init__(self, enabled: bool = True, *, inf: bool = False) -> None:
        self._watch = _engine.FiniteWatch(describe, inf) if enabled else None

    def __enter__(self) -> detect_nan:
        stack = _stack()
        if stack and stack[-1]:
            stack[-1].stop()
        stack.append(self._watch)
        if self._watch:
            self._watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        stack = _stack()
        stack.pop()
        if self._watch:
            self._watch.stop()
        if stack and stack[-1]:
            stack[-1].start()


def _stack() -> list[Any]:
    """The watches of this thread, innermost last; None where it is switched off."""
    if not hasattr(_watches, "stack"):
        _watches.stack = []
    return _watches.stack
