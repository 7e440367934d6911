"""`xpu`, `mps` and `mtia`: devices that are never there, for programs that ask whether they are, or seed them."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "is_initialized", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """False: the devices are the CPU and NVIDIA's GPUs."""
    return False


def device_count() -> int:
    """0."""
    return 0


def is_initialized() -> bool:
    """False."""
    return False


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no generator to seed."""
