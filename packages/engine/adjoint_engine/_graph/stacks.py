"""The stack of a call, kept cheaply: which instructions were running; the text is made when somebody asks."""

from __future__ import annotations

import sys
from itertools import islice
from types import CodeType, FrameType

Stack = list[tuple[CodeType, int]]  # innermost first


def capture() -> Stack:
    """The stack of the caller's caller."""
    frame: FrameType | None = sys._getframe(1)
    found: Stack = []
    while frame is not None:
        found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return found


def text(stack: Stack) -> list[str]:
    """As ``traceback.format_stack`` gives it: outermost first."""
    import traceback  # slow to import, and only wanted here

    frames = []
    for code, last in reversed(stack):
        line = next(islice(code.co_positions(), last // 2, None), (None,))[0]
        frames.append(traceback.FrameSummary(code.co_filename, line or code.co_firstlineno, code.co_name))
    return traceback.StackSummary.from_list(frames).format()
