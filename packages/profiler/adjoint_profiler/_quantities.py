"""Small values of profiles: times, intervals, kinds of devices, and how they are printed."""

from __future__ import annotations

import enum
import warnings
from typing import NamedTuple


class DeviceType(enum.IntEnum):
    """Where an event ran."""

    CPU = 0
    CUDA = 1
    XPU = 12
    Meta = 14
    MTIA = 19
    PrivateUse1 = 20

    __str__ = enum.Enum.__str__


class Interval:
    """A span of time, in microseconds.

    Example::

        >>> Interval(2, 7).elapsed_us()
        5
        >>> Interval(12.4, 14.183).elapsed_us()
        1.783
    """

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Its length in microseconds, to the nanosecond."""
        return round(self.end - self.start, 3)

    def __repr__(self) -> str:
        return f"Interval({self.start}, {self.end})"


class Kernel(NamedTuple):
    """What an event started on a device: name, index of the device, microseconds."""

    name: str
    device: int
    duration: float


def of_device(attribute: str) -> str:
    """The attribute of events that a name with the kind of a device in it means.

    Example::

        >>> of_device("self_cuda_time_total"), of_device("cpu_time")
        ('self_device_time_total', 'cpu_time')
    """
    for kind in ("cuda", "xpu", "privateuse1"):
        attribute = attribute.replace(kind, "device")
    return attribute


def deprecated(old: str, new: str) -> None:
    """Warns the caller's caller that a name of older versions was used."""
    warnings.warn(f"`{old}` is deprecated. Use `{new}` instead.", FutureWarning, stacklevel=3)


def format_time(us: float) -> str:
    """Microseconds with the unit that suits them."""
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    if us >= 1e3:
        return f"{us / 1e3:.3f}ms"
    return f"{us:.3f}us"


def format_time_in(us: float, unit: str | None) -> str:
    """Microseconds in `unit`: s, ms, us, or None for the one that suits."""
    if unit is None:
        return format_time(us)
    scales = {"us": 1.0, "ms": 1e3, "s": 1e6}
    if unit not in scales:
        raise ValueError(f"table: time_unit must be one of s, ms, us, got {unit!r}")
    return f"{us / scales[unit]:.3f}{unit}"


def format_share(part: float, total: float) -> str:
    """A part in percent of the total."""
    if total == 0:
        return "NaN" if part else "0.00%"
    return f"{part * 100 / total:.2f}%"


def format_memory(count: float) -> str:
    """Bytes with the unit that suits them."""
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"
