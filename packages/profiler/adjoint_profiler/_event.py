"""One event of a profile, and the average of all events of a name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

from ._metadata import EventMetadata
from ._quantities import DeviceType, Interval, Kernel, deprecated, format_time


class FormattedTimesMixin:
    """Times per call, and all times as text."""

    count: int
    cpu_time_total: float
    device_time_total: float
    self_cpu_time_total: float
    self_device_time_total: float

    @property
    def cpu_time(self) -> float:
        """Microseconds on the CPU per call."""
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        """Microseconds on the device per call."""
        return 0.0 if self.count == 0 else self.device_time_total / self.count

    @property
    def cuda_time(self) -> float:
        """Deprecated: device_time."""
        deprecated("cuda_time", "device_time")
        return self.device_time

    @property
    def cpu_time_str(self) -> str:
        """cpu_time with its unit."""
        return format_time(self.cpu_time)

    @property
    def device_time_str(self) -> str:
        """device_time with its unit."""
        return format_time(self.device_time)

    @property
    def cpu_time_total_str(self) -> str:
        """cpu_time_total with its unit."""
        return format_time(self.cpu_time_total)

    @property
    def device_time_total_str(self) -> str:
        """device_time_total with its unit."""
        return format_time(self.device_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """self_cpu_time_total with its unit."""
        return format_time(self.self_cpu_time_total)

    @property
    def self_device_time_total_str(self) -> str:
        """self_device_time_total with its unit."""
        return format_time(self.self_device_time_total)

    @property
    def cuda_time_total(self) -> float:
        """Deprecated: device_time_total."""
        deprecated("cuda_time_total", "device_time_total")
        return self.device_time_total

    @property
    def self_cuda_time_total(self) -> float:
        """Deprecated: self_device_time_total."""
        deprecated("self_cuda_time_total", "self_device_time_total")
        return self.self_device_time_total


@dataclass(eq=False, repr=False)
class FunctionEvent(FormattedTimesMixin):
    """One thing that ran: a call, a node of backward, a labelled range, or a change of memory.

    Times are microseconds since the profile began. `sequence_nr` is the same number on a forward call and on the node of
    backward that it made (-1: it made none). `scope`: 0 a call, 1 a node of backward, 7 a labelled range.

    Example::

        >>> event = FunctionEvent(1, "op", 0, 10, 30)
        >>> event.cpu_time_total, event.key
        (20, 'op')
    """

    id: int
    name: str
    thread: int
    start_us: InitVar[float]
    end_us: InitVar[float]
    overload_name: str | None = None
    fwd_thread: int | None = None
    input_shapes: Sequence[Any] | str | None = None
    stack: Sequence[str] | None = None
    scope: int = 0
    use_device: str | None = None
    cpu_memory_usage: int = 0
    device_memory_usage: int = 0
    is_async: bool = False
    is_remote: bool = False
    sequence_nr: int = -1
    node_id: int = -1
    device_type: DeviceType = DeviceType.CPU
    device_index: int = 0
    device_resource_id: int | None = None
    is_legacy: bool = False
    flops: int | None = None
    trace_name: str | None = None
    concrete_inputs: Sequence[Any] | None = None
    kwinputs: dict[str, Any] | None = None
    is_user_annotation: bool = False
    is_python_function: bool = False
    activity_type: str | None = None
    metadata_json: str | None = None
    flow_id: int | None = None
    flow_type: int | None = None
    flow_start: bool | None = None
    external_id: int = 0
    linked_correlation_id: int = 0
    extra_meta: InitVar[dict[str, str] | None] = None
    structured_input_shapes: Sequence[Any] | None = None
    structured_input_strides: Sequence[Any] | None = None
    input_dtypes: Sequence[str] | None = None
    python_id: int = -1
    python_parent_id: int = -1
    python_module_id: int = -1
    count: int = field(default=1, init=False)
    kernels: list[Kernel] = field(default_factory=list, init=False)
    cpu_children: list[FunctionEvent] = field(default_factory=list, init=False)
    cpu_parent: FunctionEvent | None = field(default=None, init=False)

    def __post_init__(self, start_us: float, end_us: float, extra_meta: dict[str, str] | None) -> None:
        self.time_range = Interval(start_us, end_us)
        if self.device_resource_id is None:
            self.device_resource_id = self.thread
        self.event_metadata = None if extra_meta is None else EventMetadata.of(extra_meta)
        if self.metadata_json is None and extra_meta:
            self.metadata_json = json.dumps(extra_meta)

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Adds what this event ran on a device, in microseconds."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Makes `child` an event that ran inside of this one."""
        for event in (self, child):
            if event.device_type != DeviceType.CPU:
                raise ValueError(
                    f"append_cpu_child: both events must have run on the CPU, got {event.name} on {event.device_type.name}"
                )
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Sets the event that this one ran inside of."""
        if parent.device_type != DeviceType.CPU:
            raise ValueError(f"set_cpu_parent: the parent must have run on the CPU, got {parent.device_type.name}")
        self.cpu_parent = parent

    @property
    def key(self) -> str:
        """What events are averaged by."""
        return self.name

    @property
    def _on_cpu(self) -> bool:
        return self.device_type == DeviceType.CPU and not self.is_async

    @property
    def cpu_time_total(self) -> float:
        """Microseconds, events inside of this one included."""
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds outside of the events inside."""
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children) if self._on_cpu else 0

    @property
    def device_time_total(self) -> float:
        """Microseconds on the device, events inside of this one included."""
        if self.is_async or not self.use_device:
            return 0
        if self.device_type != DeviceType.CPU:
            return self.time_range.elapsed_us()
        own = sum(k.duration for k in self.kernels)
        return own if self.is_legacy else own + sum(c.device_time_total for c in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """Microseconds on the device outside of the events inside."""
        if self.is_async or not self.use_device:
            return 0
        return self.device_time_total - sum(c.device_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes allocated less bytes freed, outside of the events inside."""
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children) if self._on_cpu else 0

    @property
    def self_device_memory_usage(self) -> int:
        """Bytes of device memory allocated less bytes freed, outside of the events inside."""
        return self.device_memory_usage - sum(c.device_memory_usage for c in self.cpu_children) if self._on_cpu else 0

    @property
    def self_cuda_memory_usage(self) -> int:
        """Deprecated: self_device_memory_usage."""
        deprecated("self_cuda_memory_usage", "self_device_memory_usage")
        return self.self_device_memory_usage

    def __repr__(self) -> str:
        device = self.use_device or "device"
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} device_type={self.device_type.name} "
            f"node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[c.id for c in self.cpu_children]} {device}_time={self.device_time_str} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"{device}_memory_usage={self.device_memory_usage} is_async={self.is_async} is_remote={self.is_remote} "
            f"seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


del FunctionEvent.extra_meta  # a parameter: its default is no attribute
