"""Tables of events, for terminals and notebooks."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ._quantities import DeviceType, format_memory, format_share, format_time_in, of_device

if TYPE_CHECKING:
    from ._events import Events

SPACING = 2
NUMBER = 12  # the width of a column of numbers


@dataclass(frozen=True)
class Widths:
    """The most characters of names, source lines and shapes."""

    name: int = 55
    source: int = 75
    shapes: int = 80


@dataclass
class Column:
    """A title, and the text of each row's cell."""

    title: str
    cells: list[str]
    width: int = NUMBER
    left: bool = False

    def text(self, cell: str) -> str:
        return (cell.ljust if self.left else cell.rjust)(self.width)


@dataclass
class Table:
    """Columns of equal length between lines that say what they are about."""

    columns: list[Column]
    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)

    def text(self, header: str | None = None) -> str:
        """For a terminal."""
        gap = " " * SPACING
        rule = gap.join("-" * c.width for c in self.columns) + gap
        lines = []
        for note in [*([header] if header is not None else []), *self.above]:
            lines += ["=" * len(rule), note]
        lines += [rule, gap.join(c.text(c.title) for c in self.columns) + gap, rule]
        for row in range(len(self.columns[0].cells)):
            cells = [c.cells[row].split("\n") for c in self.columns]  # of stacks, several lines
            lines += [
                gap.join(c.text(t) for c, t in zip(self.columns, line, strict=True)) + gap
                for line in zip_longest(*cells, fillvalue="")
            ]
        return "\n".join([*lines, rule, *self.below, ""])

    def html(self) -> str:
        """For a notebook."""
        number = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
        text = "text-align:left;font-family:monospace"
        styles = [text if c.left or c.title == "Name" else number for c in self.columns]
        head = "".join(f'<th style="{s}">{html.escape(c.title)}</th>' for c, s in zip(self.columns, styles, strict=True))
        rows = "".join(
            "<tr>" + "".join(f'<td style="{s}">{html.escape(cell)}</td>' for cell, s in zip(row, styles, strict=True)) + "</tr>"
            for row in zip(*(c.cells for c in self.columns), strict=True)
        )
        notes = "".join(f"<p>{html.escape(line)}</p>" for line in self.below)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"


def table(
    events: Events, sort_by: str | None, row_limit: int, widths: Widths, top_level_only: bool, time_unit: str | None
) -> Table:
    """The table of `events`; see EventList.table."""
    format_time_in(0, time_unit)  # an error for an unknown unit, also without events
    rows = list(events)
    if sort_by is not None:
        attribute = of_device(sort_by)
        rows.sort(key=lambda e: getattr(e, attribute) or 0, reverse=True)
    if top_level_only:
        rows = [e for e in rows if e.cpu_parent is None]
    if row_limit >= 0:
        rows = rows[:row_limit]
    total_cpu = events.self_cpu_time_total
    columns = [_names(rows, widths.name)]
    if any(e.overload_name for e in rows):
        columns.append(_texts("Overload Name", [e.overload_name or "" for e in rows], widths.name))
    columns += _times("CPU", "cpu", rows, total_cpu, time_unit)
    below = [f"Self CPU time total: {format_time_in(total_cpu, time_unit)}"]
    device = events.use_device
    if device and any(e.self_device_time_total for e in events):
        total = _on_device(events)
        columns += _times(device.upper(), "device", rows, total, time_unit)
        below.append(f"Self {device.upper()} time total: {format_time_in(total, time_unit)}")
    if events.has_memory:
        columns += _memory("CPU", "cpu", rows)
        if device and any(e.self_device_memory_usage > 0 for e in events):
            columns += _memory(device.upper(), "device", rows)
    columns.append(Column("# of Calls", [str(e.count) for e in rows]))
    if any(e.node_id != -1 for e in rows):
        columns.append(Column("Node ID", [str(e.node_id) for e in rows]))
    if any(e.input_shapes for e in rows):
        columns.append(_texts("Input Shapes", [str(e.input_shapes) for e in rows], widths.shapes))
    if any(e.stack for e in rows):
        columns.append(_sources(rows, widths.source))
    if any((e.flops or 0) > 0 for e in rows):
        columns.append(_flops(rows))
    above = ["This report only display top-level ops statistics"] if top_level_only else []
    return Table(columns, above, below)


def _on_device(events: Sequence[Any]) -> float:
    """Microseconds of all work on the device; what events of the CPU say of it counts where there are no others."""
    own = [e for e in events if e.device_type != DeviceType.CPU]
    return sum(e.self_device_time_total for e in own or events)


def cut(text: str, width: int) -> str:
    """At most `width` characters of a text's beginning."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def _texts(title: str, cells: Sequence[str], width: int) -> Column:
    cells = [cut(c, width) for c in cells]
    return Column(title, list(cells), max([len(title), NUMBER, *map(len, cells)]))


def _names(rows: Sequence[Any], width: int) -> Column:
    return _texts("Name", [e.key for e in rows], width)


def _sources(rows: Sequence[Any], width: int) -> Column:
    """The frames, the innermost first; of a long path, the end."""
    stacks = [[f if len(f) <= width else "..." + f[len(f) - width + 3 :] for f in e.stack or ()] for e in rows]
    cells = ["\n".join([*stack, ""] if len(stack) > 1 else stack) for stack in stacks]  # an empty line after several
    return Column("Source Location", cells, max([15, *(len(f) for stack in stacks for f in stack)]), left=True)


def _times(title: str, kind: str, rows: Sequence[Any], total: float, unit: str | None) -> list[Column]:
    def column(name: str, value: Callable[[Any], float], share: bool = False) -> Column:
        cells = [format_share(value(e), total) if share else format_time_in(value(e), unit) for e in rows]
        return Column(name, cells, max([NUMBER, *map(len, cells)]))

    def own(e: Any) -> float:
        return getattr(e, f"self_{kind}_time_total")

    def whole(e: Any) -> float:
        return 0 if e.is_async else getattr(e, f"{kind}_time_total")

    average = column(f"{title} time avg", lambda e: getattr(e, f"{kind}_time"))
    if kind == "device":
        return [column(f"Self {title}", own), column(f"Self {title} %", own, True), column(f"{title} total", whole), average]
    return [
        column(f"Self {title} %", own, True),
        column(f"Self {title}", own),
        column(f"{title} total %", whole, True),
        column(f"{title} total", whole),
        average,
    ]


def _memory(title: str, kind: str, rows: Sequence[Any]) -> list[Column]:
    return [
        Column(f"{title} Mem", [format_memory(getattr(e, f"{kind}_memory_usage")) for e in rows]),
        Column(f"Self {title} Mem", [format_memory(getattr(e, f"self_{kind}_memory_usage")) for e in rows]),
    ]


def _flops(rows: Sequence[Any]) -> Column:
    """In the unit in which the largest has at most four digits before the point."""
    most = max(e.flops or 0 for e in rows)
    scale, unit = 1, "FLOPs"
    for prefix in "KMGTP":
        if most < scale * 1000:
            break
        scale, unit = scale * 1000, f"{prefix}FLOPs"
    return Column(f"Total {unit}", [f"{e.flops / scale:.3f}" if e.flops else "--" for e in rows])
