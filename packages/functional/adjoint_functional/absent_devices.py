"""`xpu`, `mps` and `mtia`: devices that are never there, for programs that ask whether they are, or seed them."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "get_device_properties", "get_rng_state", "init", "is_available",
    "is_initialized", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_device", "set_rng_state", "synchronize",
]  # fmt: skip


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


def seed() -> None:
    """Nothing: there is no generator to seed."""


def seed_all() -> None:
    """Nothing: there is no generator to seed."""


def empty_cache() -> None:
    """Nothing: no memory is kept."""


def _absent(name: str) -> Any:
    def absent(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{name}: there is no such device here, only the CPU and NVIDIA's GPUs")

    absent.__name__ = absent.__qualname__ = name
    absent.__doc__ = "Raises RuntimeError: there is no such device."
    return absent


current_device, get_device_name, get_device_properties, get_rng_state, init, set_device, set_rng_state, synchronize = map(
    _absent,
    (
        "current_device",
        "get_device_name",
        "get_device_properties",
        "get_rng_state",
        "init",
        "set_device",
        "set_rng_state",
        "synchronize",
    ),
)
