"""Which event ran inside of which: from their times, for events whose source does not say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ._event import FunctionEvent
from ._quantities import DeviceType


def link_by_time(events: Iterable[FunctionEvent]) -> None:
    """Gives each event on the CPU its parent: the shortest event of its thread whose time contains its own."""
    threads: dict[tuple[int, int], list[FunctionEvent]] = {}
    for event in events:
        if event.device_type == DeviceType.CPU and not event.is_async and event.name != MEMORY:
            threads.setdefault((event.thread, event.node_id), []).append(event)
    for thread in threads.values():
        thread.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
        around: list[FunctionEvent] = []
        for event in thread:
            while around and (
                event.time_range.start >= around[-1].time_range.end or event.time_range.end > around[-1].time_range.end
            ):
                around.pop()
            if around:
                around[-1].append_cpu_child(event)
                event.set_cpu_parent(around[-1])
            around.append(event)


def without_repeats(events: Sequence[FunctionEvent]) -> list[FunctionEvent]:
    """Leaves out calls that one of the same name handed on: to the level below, or in another form."""
    gone: set[int] = set()
    for event in events:
        parent = event.cpu_parent
        if parent is None or parent.name != event.name or not event.name.startswith("aten::"):
            continue
        if sum(child.name == event.name for child in parent.cpu_children) > 1:  # it called it for something else
            continue
        at = parent.cpu_children.index(event)
        parent.cpu_children[at : at + 1] = event.cpu_children
        parent.kernels.extend(event.kernels)
        parent.flops = parent.flops or event.flops
        if parent.sequence_nr == -1:
            parent.sequence_nr = event.sequence_nr
        for child in event.cpu_children:
            child.cpu_parent = parent
        gone.add(id(event))
    return [e for e in events if id(e) not in gone]


MEMORY = "[memory]"
