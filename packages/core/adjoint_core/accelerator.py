"""`accelerator`: the machine's GPUs by a name that says no maker."""

from __future__ import annotations

from ._core import device as _device
from .cuda import current_device, current_stream, device_count, is_available, set_device, synchronize

current_device_index, set_device_index = current_device, set_device

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "is_available", "set_device_index",
    "synchronize",
]  # fmt: skip


def current_accelerator(check_available: bool = False) -> _device | None:
    """The device that stands for the machine's GPUs; None without any, whether ``check_available`` is set or not.

    Example::

        >>> accelerator = ad.accelerator.current_accelerator()
        >>> accelerator is None or accelerator.type == "cuda"
        True
    """
    return _device("cuda") if is_available() else None
