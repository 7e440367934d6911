"""Traces in the format that chrome://tracing, Perfetto and TensorBoard read."""

from __future__ import annotations

import gzip
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._event import FunctionEvent
from ._quantities import DeviceType
from ._tree import MEMORY

if TYPE_CHECKING:
    from ._events import Events, Path


class Trace:
    """Events, the curve of memory and facts about the run, as a trace.

    Slices nest as the events do; an arrow leads from each forward call to the node of backward that it made, from
    calls of backward to the nodes of double backward, and from calls to what they put on a device. Each stream of a device is
    a thread of a process that stands for the device.

    Arguments:
        memory: curves by device: pairs of (microseconds, bytes).
    """

    def __init__(
        self,
        events: Events,
        memory: Mapping[str, Sequence[tuple[float, int]]] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._events: list[FunctionEvent] = [e for e in events if e.device_type == DeviceType.CPU]
        self._on_device: list[FunctionEvent] = [e for e in events if e.device_type != DeviceType.CPU]
        self._memory = memory or {}
        self._facts = facts or {}
        self._pid = os.getpid()

    def as_dict(self) -> dict[str, Any]:
        """The trace as JSON will have it."""
        return {
            "schemaVersion": 1,
            "displayTimeUnit": "ms",
            "host_name": platform.node(),
            **self._facts,
            "traceEvents": [*self._names(), *self._slices(), *self._arrows(), *self._device(), *self._counters()],
        }

    def write(self, path: Path) -> None:
        """Writes it, compressed if the path ends with .gz."""
        text = json.dumps(self.as_dict(), default=str, allow_nan=False)
        opened = gzip.open if os.fspath(path).endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8") as file:
            file.write(text)

    def _at(self, kind: str, name: str, category: str, time: float, thread: int) -> dict[str, Any]:
        return {"ph": kind, "cat": category, "name": name, "pid": self._pid, "tid": thread, "ts": time}

    def _names(self) -> Iterator[dict[str, Any]]:
        process = os.path.basename(sys.argv[0] or sys.executable) or "python"
        yield {"ph": "M", "name": "process_name", "pid": self._pid, "tid": 0, "args": {"name": process}}
        for thread in sorted({e.thread for e in self._events}):
            yield {"ph": "M", "name": "thread_name", "pid": self._pid, "tid": thread, "args": {"name": f"thread {thread}"}}

    def _device(self) -> Iterator[dict[str, Any]]:
        """Slices of streams, and the arrows that lead there."""
        by = {e.id: e for e in self._events}
        for device in sorted({e.device_index for e in self._on_device}):
            yield {"ph": "M", "name": "process_name", "pid": device, "tid": 0, "args": {"name": f"GPU {device}"}}
            yield {"ph": "M", "name": "process_sort_index", "pid": device, "tid": 0, "args": {"sort_index": 1 << 22 | device}}
        for device, stream in sorted({(e.device_index, e.device_resource_id or 0) for e in self._on_device}):
            yield {"ph": "M", "name": "thread_name", "pid": device, "tid": stream, "args": {"name": f"stream {stream}"}}
        for event in self._on_device:
            place = {"pid": event.device_index, "tid": event.device_resource_id}
            start = event.time_range.start
            span = self._at("X", event.name, event.activity_type or "kernel", start, event.thread)
            args = {
                "External id": event.linked_correlation_id,
                "correlation": event.id,
                **json.loads(event.metadata_json or "{}"),
            }
            yield {**span, **place, "dur": event.time_range.elapsed_us(), "args": args}
            source = by.get(event.linked_correlation_id)
            if source is None:
                continue
            queued = min(args.get("queued", source.time_range.start * 1e3) / 1e3, start)
            yield {**self._at("s", "ac2g", "ac2g", queued, source.thread), "id": event.id}
            yield {**self._at("f", "ac2g", "ac2g", start, 0), **place, "id": event.id, "bp": "e"}

    def _slices(self) -> Iterator[dict[str, Any]]:
        for event in self._events:
            start, length = event.time_range.start, event.time_range.elapsed_us()
            if event.name == MEMORY:
                instant = self._at("i", MEMORY, "cpu_instant_event", start, event.thread)
                bytes_of = event.cpu_memory_usage or event.device_memory_usage
                kind, index = (1, event.device_index) if event.device_memory_usage else (0, -1)
                yield {**instant, "s": "t", "args": {"Bytes": bytes_of, "Device Type": kind, "Device Id": index}}
                continue
            category = event.activity_type or "cpu_op"
            span = self._at("X", event.trace_name or event.name, category, start, event.thread)
            yield {**span, "dur": length, "args": _arguments(event)}
            for kernel in () if self._on_device else event.kernels:  # they have events of their own
                device = self._at("X", kernel.name, "kernel", start, kernel.device)
                yield {**device, "pid": f"device {kernel.device}", "dur": kernel.duration, "args": {"External id": event.id}}

    def _arrows(self) -> Iterator[dict[str, Any]]:
        made: dict[tuple[int, int], FunctionEvent] = {}
        number = 0
        for event in self._events:
            if event.sequence_nr < 0:
                continue
            if not event.fwd_thread:
                made.setdefault((event.thread, event.sequence_nr), event)
            elif event.scope == 1 and (source := made.get((event.fwd_thread, event.sequence_nr))) is not None:
                number += 1
                yield {**self._at("s", "fwdbwd", "fwdbwd", source.time_range.start, source.thread), "id": number}
                end = self._at("f", "fwdbwd", "fwdbwd", event.time_range.start, event.thread)
                yield {**end, "id": number, "bp": "e"}

    def _counters(self) -> Iterator[dict[str, Any]]:
        for device, curve in self._memory.items():
            name = "Memory of tensors" if device == "cpu" else f"Memory of tensors on {device}"
            for time, live in curve:
                yield {**self._at("C", name, "memory", time, 0), "args": {"bytes": live}}


def _arguments(event: FunctionEvent) -> dict[str, Any]:
    args: dict[str, Any] = {"External id": event.id}
    if event.sequence_nr >= 0:
        args["Sequence number"] = event.sequence_nr
        args["Fwd thread id"] = event.fwd_thread or 0
    if event.input_shapes:
        args["Input Dims"] = event.input_shapes
        args["Input Strides"] = event.structured_input_strides
        args["Input type"] = event.input_dtypes
    if event.concrete_inputs:
        args["Concrete Inputs"] = ["" if v is None else str(v) for v in event.concrete_inputs]
    if event.flops:
        args["FLOPs"] = event.flops
    if event.cpu_memory_usage:
        args["Bytes"] = event.cpu_memory_usage
    if event.device_memory_usage:
        args["Device Bytes"] = event.device_memory_usage
    if event.stack:
        args["Call stack"] = ";".join(event.stack)
    return args
