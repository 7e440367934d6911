"""Which event a change of memory belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ._event import FunctionEvent


class Change(NamedTuple):
    """Memory of tensors that came, or went (negative)."""

    time: int  # nanoseconds
    bytes: int
    event: int | None  # of the log: the innermost around it
    device: int  # index of the GPU; -1: the CPU


def count_memory(events: Sequence[FunctionEvent], changes: Iterable[Change], us: Callable[[int], float]) -> list[Change]:
    """Counts each change in the innermost event of its time and in all around that. Returns those that no event was around.

    Arguments:
        events: of the CPU, which know what they are in.
        changes: as they happened.
        us: from the time of a change to that of events.
    """
    waiting = sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end), reverse=True)
    around: list[FunctionEvent] = []
    outside: list[Change] = []
    for change in changes:
        now = us(change.time)
        while waiting and waiting[-1].time_range.start <= now:
            around.append(waiting.pop())
        while around and around[-1].time_range.end < now:
            around.pop()
        event = around[-1] if around else None
        if event is None:
            outside.append(change)
        while event is not None:
            if change.device < 0:
                event.cpu_memory_usage += change.bytes
            else:
                event.device_memory_usage += change.bytes
            event = event.cpu_parent
    return outside
