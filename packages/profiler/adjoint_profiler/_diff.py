"""What changed between two profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._average import FunctionEventAvg
from ._quantities import format_memory, format_time
from ._table import Column, Table, cut

if TYPE_CHECKING:
    from ._events import Events


@dataclass(frozen=True)
class Change:
    """One name in both profiles; counts, self times (microseconds) and bytes are zero where it is absent."""

    key: str
    count: tuple[int, int]
    self_cpu_time_total: tuple[float, float]
    self_cpu_memory_usage: tuple[int, int]
    self_device_time_total: tuple[float, float] = (0, 0)

    @property
    def time_change(self) -> float:
        """Microseconds of self time that came, or went (negative); on the device, of what has none on the CPU."""
        before, after = self.self_cpu_time_total if any(self.self_cpu_time_total) else self.self_device_time_total
        return after - before


class Diff:
    """Two profiles name by name, the largest change of self time first.

    Arguments:
        before, after: events or their averages.

    Example::

        >>> from adjoint.autograd.profiler_util import EventList, FunctionEvent
        >>> before = EventList([FunctionEvent(1, "op", 0, 0, 10)])
        >>> after = EventList([FunctionEvent(1, "op", 0, 0, 4), FunctionEvent(2, "new", 0, 5, 6)])
        >>> [(c.key, c.time_change) for c in before.diff(after).changes]
        [('op', -6), ('new', 1)]
    """

    def __init__(self, before: Events, after: Events) -> None:
        self.before = before
        self.after = after
        old, new = _by_name(before), _by_name(after)
        none = FunctionEventAvg()
        changes = [_change(key, old.get(key, none), new.get(key, none)) for key in {**old, **new}]
        self.changes = sorted(changes, key=lambda c: -abs(c.time_change))
        self._memory = before.has_memory or after.has_memory

    def table(self, row_limit: int = 100, max_name_column_width: int = 55) -> str:
        """The changes as a table; `row_limit` -1: all of them."""
        return self._table(row_limit, max_name_column_width).text()

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return self._table(100, 55).html()

    def _table(self, row_limit: int, width: int) -> Table:
        rows = self.changes if row_limit < 0 else self.changes[:row_limit]
        names = [cut(c.key, width) for c in rows]
        columns = [
            Column("Name", names, max([4, *map(len, names)])),
            Column("Self CPU before", [format_time(c.self_cpu_time_total[0]) for c in rows], 15),
            Column("after", [format_time(c.self_cpu_time_total[1]) for c in rows]),
            Column("change", [_signed(c.time_change) for c in rows]),
            Column("ratio", [_ratio(*c.self_cpu_time_total) for c in rows], 8),
            Column("Calls before", [str(c.count[0]) for c in rows]),
            Column("after", [str(c.count[1]) for c in rows], 8),
        ]
        if any(any(c.self_device_time_total) for c in self.changes):
            columns.append(Column("Self device before", [format_time(c.self_device_time_total[0]) for c in rows], 18))
            columns.append(Column("after", [format_time(c.self_device_time_total[1]) for c in rows]))
        if self._memory:
            columns.append(Column("Self CPU Mem before", [format_memory(c.self_cpu_memory_usage[0]) for c in rows], 19))
            columns.append(Column("after", [format_memory(c.self_cpu_memory_usage[1]) for c in rows]))
        old, new = self.before.self_cpu_time_total, self.after.self_cpu_time_total
        return Table(columns, below=[f"Self CPU time total: {format_time(old)} -> {format_time(new)} ({_ratio(old, new)})"])


def _by_name(events: Events) -> dict[str | None, FunctionEventAvg]:
    found: dict[str | None, FunctionEventAvg] = {}
    for event in events:
        found.setdefault(event.key, FunctionEventAvg()).accumulate(event)
    return found


def _change(key: str | None, old: FunctionEventAvg, new: FunctionEventAvg) -> Change:
    return Change(
        key or "",
        (old.count, new.count),
        (old.self_cpu_time_total, new.self_cpu_time_total),
        (old.self_cpu_memory_usage, new.self_cpu_memory_usage),
        (old.self_device_time_total, new.self_device_time_total),
    )


def _signed(us: float) -> str:
    return ("-" if us < 0 else "+") + format_time(abs(us))


def _ratio(old: float, new: float) -> str:
    return f"{new / old:.2f}x" if old > 0 else "new" if new > 0 else "--"
