"""`accelerator`: the machine's GPUs by a name that says no maker."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ._core import device as _device
from .cuda import (
    current_device,
    current_stream,
    device_count,
    empty_cache,
    is_available,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    set_device,
    set_stream,
    synchronize,
)
from .cuda import device as _device_guard

current_device_index = current_device_idx = current_device
set_device_index = set_device_idx = set_device
get_memory_info = mem_get_info

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache",
    "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def device_index(device: int | None) -> AbstractContextManager[Any]:
    """Makes a GPU the current one inside; None: leaves it."""
    return nullcontext() if device is None else _device_guard(device)


def current_accelerator(check_available: bool = False) -> _device | None:
    """The device that stands for the machine's GPUs; None without any, whether ``check_available`` is set or not.

    Example::

        >>> accelerator = ad.accelerator.current_accelerator()
        >>> accelerator is None or accelerator.type == "cuda"
        True
    """
    return _device("cuda") if is_available() else None
