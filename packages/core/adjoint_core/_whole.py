"""What stands for a whole number."""

from __future__ import annotations

from typing import Any


def is_whole(value: Any) -> bool:
    """Whether `value` is an int, or an integer of NumPy or a tensor without dimensions in place of one."""
    return isinstance(value, int) or (hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0)
