"""The state of autocast on this thread, by functions that libraries use to save it and put it back."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_engine import _engine
from adjoint_engine._engine import autocast_decrement_nesting as autocast_decrement_nesting
from adjoint_engine._engine import autocast_increment_nesting as autocast_increment_nesting
from adjoint_engine._engine import clear_autocast_cache as clear_autocast_cache
from adjoint_engine._engine import get_autocast_dtype as get_autocast_dtype
from adjoint_engine._engine import is_autocast_cache_enabled as is_autocast_cache_enabled
from adjoint_engine._engine import is_autocast_enabled as is_autocast_enabled
from adjoint_engine._engine import set_autocast_cache_enabled as set_autocast_cache_enabled
from adjoint_engine._engine import set_autocast_dtype as set_autocast_dtype

__all__ = [
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype", "get_autocast_dtype",
    "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]  # fmt: skip


def set_autocast_enabled(*args: Any) -> None:
    """``set_autocast_enabled(device_type, enabled)``; ``set_autocast_enabled(enabled)`` means GPUs.

    Example::

        >>> ad.set_autocast_enabled("cpu", False)
        >>> ad.is_autocast_enabled("cpu")
        False
    """
    _engine.set_autocast_enabled(*(args if len(args) != 1 else ("cuda", *args)))


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``, by its old name."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``, by its old name."""
    _engine.set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> core.dtype:
    """``get_autocast_dtype("cpu")``, by its old name."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> core.dtype:
    """``get_autocast_dtype("cuda")``, by its old name."""
    return get_autocast_dtype("cuda")


def set_autocast_cpu_dtype(dtype: core.dtype) -> None:
    """``set_autocast_dtype("cpu", dtype)``, by its old name."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: core.dtype) -> None:
    """``set_autocast_dtype("cuda", dtype)``, by its old name."""
    set_autocast_dtype("cuda", dtype)
