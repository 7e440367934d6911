"""The report: one HTML file with a flame chart, the curve of memory and the table."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .._event import FunctionEvent
from .._quantities import DeviceType, format_memory, format_time
from .._tree import MEMORY

if TYPE_CHECKING:
    from .._event_list import EventList
    from .._event_list import Path as AnyPath

_HERE = Path(__file__).parent
# What colours tell apart. The order is that of the legend.
_KINDS = ("call", "node of backward", "engine", "label", "Python", "device")


_FACTS = ("grid", "block", "shared_memory", "bytes", "bandwidth_gb_s")  # of what ran on a device
Curves: TypeAlias = Mapping[str, Sequence[tuple[float, int]]]  # of memory, by device


def write_report(path: AnyPath, title: str, events: EventList, memory: Curves) -> None:
    """Writes the report; nothing in it is loaded from elsewhere."""
    data = json.dumps(report_data(events, memory), separators=(",", ":"), default=str, allow_nan=False)
    page = (_HERE / "report.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": html.escape(title),
        "STYLE": (_HERE / "report.css").read_text(encoding="utf-8"),
        "DATA": data.replace("<", "\\u003c"),  # so that no name can end the script
        "SCRIPT": (_HERE / "report.js").read_text(encoding="utf-8"),
    }
    head, *rest = page.split("{{")
    for piece in rest:
        name, text = piece.split("}}", 1)
        head += parts[name] + text
    Path(path).write_text(head, encoding="utf-8")


def report_data(events: EventList, memory: Curves) -> dict[str, Any]:
    """What the page draws: events as rows of numbers, names once."""
    shown = [e for e in events if e.name != MEMORY]
    lanes = {lane: at for at, lane in enumerate(sorted({_lane(e) for e in shown}))}
    names: dict[str, int] = {}
    details: dict[str, int] = {}
    depths: dict[int, int] = {}
    rows: list[list[float | int]] = []
    for event in shown:
        depth = depths[id(event)] = 0 if event.cpu_parent is None else depths.get(id(event.cpu_parent), -1) + 1
        rows.append(
            [
                names.setdefault(event.trace_name or event.name, len(names)),
                round(event.time_range.start, 3),
                round(event.time_range.elapsed_us(), 3),
                depth,
                lanes[_lane(event)],
                _kind(event),
                event.sequence_nr if _is_joined(event) else -1,
                details.setdefault(_detail(event), len(details)),
                event.self_cpu_memory_usage or event.self_device_memory_usage,
            ]
        )
    return {
        "kinds": _KINDS,
        "names": list(names),
        "details": list(details),
        "lanes": [f"GPU {number}, stream {stream}" if gpu else f"thread {number}" for gpu, number, stream in lanes],
        "events": rows,
        "started": _started(shown),
        "memory": {device: [[round(at, 3), live] for at, live in curve] for device, curve in memory.items()},
        "table": _table(events),
        "summary": _summary(events, shown, memory),
    }


def _lane(event: FunctionEvent) -> tuple[bool, int, int]:
    """The thread, or the stream of a GPU: below the threads."""
    if event.device_type == DeviceType.CPU:
        return False, event.thread, 0
    return True, event.device_index, event.device_resource_id or 0


def _started(shown: Sequence[FunctionEvent]) -> list[list[int]]:
    """Rows of what ran on a device, each with the row of the event that put it there."""
    rows = {e.id: row for row, e in enumerate(shown)}
    links = ((row, rows.get(e.linked_correlation_id)) for row, e in enumerate(shown) if e.linked_correlation_id)
    return [[row, by] for row, by in links if by is not None]


def _is_joined(event: FunctionEvent) -> bool:
    """Whether an arrow may begin or end here: at a call, or at a node that a call of its thread made."""
    return not event.fwd_thread or (event.scope == 1 and event.fwd_thread == event.thread)


def _kind(event: FunctionEvent) -> int:
    if event.device_type != DeviceType.CPU:
        return 5
    if event.is_python_function:
        return 4
    if event.is_user_annotation:
        return 3
    return 1 if event.scope == 1 else 2 if event.fwd_thread else 0


def _detail(event: FunctionEvent) -> str:
    lines: list[str] = []
    if event.event_metadata is not None:
        facts = event.event_metadata._asdict()
        lines.append(", ".join(f"{name.replace('_', ' ')} {facts[name]}" for name in _FACTS if facts[name] is not None))
    if event.input_shapes:
        lines.append(f"shapes {event.input_shapes}")
    if event.input_dtypes:
        lines.append(f"types {', '.join(event.input_dtypes)}")
    if any(v is not None for v in event.concrete_inputs or ()):
        lines.append(f"values {event.concrete_inputs}")
    if event.flops:
        lines.append(f"{event.flops:,} floating-point operations")
    lines += list(event.stack or ())[:4]
    return "\n".join(lines)


def _table(events: EventList) -> dict[str, Any]:
    """Averages by name; columns of numbers that the page sorts."""
    columns = ["Name", "Calls", "Self CPU (µs)", "Self %", "CPU total (µs)", "CPU avg (µs)"]
    averages = [a for a in events.key_averages() if a.key != MEMORY]
    total = events.self_cpu_time_total or 1
    rows = [
        [a.key, a.count, a.self_cpu_time_total, 100 * a.self_cpu_time_total / total, a.cpu_time_total, a.cpu_time]
        for a in averages
    ]
    if any(a.self_device_time_total for a in averages):
        columns += ["Self device (µs)", "Device total (µs)"]
        rows = [[*row, a.self_device_time_total, a.device_time_total] for row, a in zip(rows, averages, strict=True)]
    if events.has_memory:
        columns += ["Self memory"]
        rows = [[*row, a.self_cpu_memory_usage] for row, a in zip(rows, averages, strict=True)]
    if any(a.self_device_memory_usage for a in averages):
        columns += ["Self device memory"]
        rows = [[*row, a.self_device_memory_usage] for row, a in zip(rows, averages, strict=True)]
    if any(a.flops for a in averages):
        columns += ["MFLOPs"]
        rows = [[*row, a.flops / 1e6] for row, a in zip(rows, averages, strict=True)]
    return {"columns": columns, "rows": rows}


def _summary(events: EventList, shown: Sequence[FunctionEvent], memory: Curves) -> list[list[str]]:
    facts = [["CPU time in events", format_time(events.self_cpu_time_total)]]
    if on_device := sum(e.time_range.elapsed_us() for e in shown if e.device_type != DeviceType.CPU):
        facts.append(["time on devices", format_time(on_device)])
    if shown:
        span = max(e.time_range.end for e in shown) - min(e.time_range.start for e in shown)
        facts.append(["from first to last", format_time(span)])
    facts.append(["events", f"{len(shown):,}"])
    for device, curve in memory.items():
        where = "" if device == "cpu" else f" of {device}"
        facts += [
            [f"peak memory{where}", format_memory(max(live for _, live in curve))],
            [f"memory{where} at the end", format_memory(curve[-1][1])],
        ]
    return facts
