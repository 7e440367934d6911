"""`cuda`: whether there is a GPU to use. There is none: adjoint computes on the CPU."""

from __future__ import annotations

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Whether tensors can live on a GPU."""
    return device_count() > 0


def device_count() -> int:
    """How many GPUs tensors can live on."""
    return 0
