"""What nvprof recorded while emit_nvtx was on: its SQLite files."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from ._event import FunctionEvent
from ._event_list import EventList
from ._records import StringTable
from ._steps import EnforceUnique

if TYPE_CHECKING:
    from ._events import Path

_RANGES = """
    SELECT first.id, first.name, first.timestamp, last.timestamp
    FROM CUPTI_ACTIVITY_KIND_MARKER AS first JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id
    WHERE first.name != 0 AND last.name = 0
"""
_KERNELS = """
    SELECT first.id, launch._id_, kernel.name, kernel.start, kernel.end
    FROM CUPTI_ACTIVITY_KIND_MARKER AS first
    JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id
    JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS launch ON first.timestamp < launch.start AND launch.end < last.timestamp
    JOIN CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel ON kernel.correlationId = launch.correlationId
    WHERE first.name != 0 AND last.name = 0
"""


def load_nvprof(path: Path) -> EventList:
    """The events of a file that nvprof wrote, as an EventList.

    Arguments:
        path: of the SQLite file.
    """
    events = EventList(parse_nvprof_trace(path), use_device="cuda")
    events._build_tree()
    return events


def parse_nvprof_trace(path: Path) -> list[FunctionEvent]:
    """The ranges of a file that nvprof wrote, as they began, each with the kernels that were started in it.

    Raises:
        sqlite3.Error: the file is not nvprof's.
    """
    connection = sqlite3.connect(path)
    try:
        names = StringTable()
        strings = {key: names[text] for key, text in connection.execute("SELECT _id_, value FROM StringTable")}
        events: dict[int, FunctionEvent] = {}
        unique = EnforceUnique()
        for marker, name, start, end in connection.execute(_RANGES):
            unique.see(marker)
            events[marker] = FunctionEvent(
                marker, strings[name], 0, start / 1e3, end / 1e3, node_id=0, use_device="cuda", is_legacy=True
            )
        unique = EnforceUnique()
        for marker, launch, name, start, end in connection.execute(_KERNELS):
            unique.see(marker, launch)
            events[marker].append_kernel(strings.get(name, str(name)), 0, (end - start) / 1e3)
    finally:
        connection.close()
    return sorted(events.values(), key=lambda e: e.time_range.start)
