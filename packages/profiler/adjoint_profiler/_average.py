"""The sum of events: all of a name, or all there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._event import FormattedTimesMixin, FunctionEvent
from ._quantities import DeviceType

_SUMS = (
    "cpu_time_total", "device_time_total", "self_cpu_time_total", "self_device_time_total",
    "cpu_memory_usage", "device_memory_usage", "self_cpu_memory_usage", "self_device_memory_usage", "count",
)  # fmt: skip
_SAME = (
    "node_id", "is_async", "is_remote", "use_device", "input_shapes", "overload_name", "stack", "scope",
    "cpu_children", "cpu_parent", "device_type", "is_legacy", "is_user_annotation",
)  # fmt: skip


class FunctionEventAvg(FormattedTimesMixin):
    """Events added up: their number, times (microseconds) and memory (bytes).

    Example::

        >>> average = FunctionEventAvg()
        >>> average += FunctionEvent(1, "op", 0, 0, 10)
        >>> average += FunctionEvent(2, "op", 0, 20, 50)
        >>> average.count, average.cpu_time
        (2, 20.0)
    """

    cpu_time_total: float
    device_time_total: float
    self_cpu_time_total: float
    self_device_time_total: float

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.is_async = False
        self.is_remote = False
        self.use_device: str | None = None
        self.cpu_time_total = 0
        self.device_time_total = 0
        self.self_cpu_time_total = 0
        self.self_device_time_total = 0
        self.input_shapes: Sequence[Any] | str | None = None
        self.overload_name: str | None = None
        self.stack: Sequence[str] | None = None
        self.scope: int | None = None
        self.cpu_memory_usage = 0
        self.device_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.self_device_memory_usage = 0
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU
        self.is_legacy = False
        self.flops = 0
        self.is_user_annotation: bool | None = None

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Adds an event, or events added up before, of the same key.

        Raises:
            TypeError: `other` is no event.
            ValueError: `other` has another key.
        """
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise TypeError(f"FunctionEventAvg.add: expected a FunctionEvent or FunctionEventAvg, got {type(other).__name__}")
        if self.key is None:  # the first says what these events are
            self.key = other.key
            for name in _SAME:
                setattr(self, name, getattr(other, name))
        elif other.key != self.key:
            raise ValueError(f"FunctionEventAvg.add: expected an event with the key {self.key!r}, got {other.key!r}")
        self.accumulate(other)
        return self

    def accumulate(self, other: FunctionEvent | FunctionEventAvg) -> None:
        """Adds the numbers of `other`, whatever its key."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops += other.flops or 0

    def __iadd__(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        device = self.use_device or "device"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f" self_{device}_time={self.self_device_time_total_str} {device}_time={self.device_time_str} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"{device}_memory_usage={self.device_memory_usage}>"
        )
