"""The memory of GPUs: the books of the allocator, and what it may take."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_cuda = _core._cuda
caching_allocator_delete = _cuda.caching_allocator_delete
empty_cache = _cuda.empty_cache

_fractions: dict[int, float] = {}
"By device: what `set_per_process_memory_fraction` was given."


def _index(device: Any) -> int:
    if device is None:
        return _cuda.current_device()
    index = device if isinstance(device, int) else _core.device(device).index
    return _cuda.current_device() if index is None else index


def memory_stats(device: Any = None) -> dict[str, int]:
    """The books of the allocator of a GPU.

    Keys are `FIGURE.POOL.WHAT`. Figures: `allocation` and `allocated_bytes` (tensors' memory, in pieces of 512 bytes),
    `requested_bytes` (as asked for), `active` and `active_bytes` (with released pieces that wait for another stream),
    `segment` and `reserved_bytes` (taken from the driver), `inactive_split` and `inactive_split_bytes` (free pieces of
    segments in use). Pools: `all`, `large_pool`, `small_pool` (pieces of up to 1 MiB). What: `current`, `peak`,
    `allocated` and `freed` (in all). Besides: `num_alloc_retries`, `num_ooms`, `num_device_alloc`, `num_device_free`, and
    `waiting.all.current`, the released pieces that wait. Empty where there is no GPU.

    Example::

        >>> ad.cuda.memory_stats()["allocated_bytes.all.current"]  # doctest: +SKIP
    """
    return _cuda.statistics(device) if _cuda.device_count() else {}


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """`memory_stats` with a dict for each part of its keys.

    Example::

        >>> ad.cuda.memory_stats_as_nested_dict()["allocated_bytes"]["all"]["current"]  # doctest: +SKIP
    """
    nested: dict[str, Any] = {}
    for key, value in memory_stats(device).items():
        *path, last = key.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold on a GPU, in pieces of 512 bytes."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors held on a GPU since the start or `reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Bytes taken from the driver: those that tensors hold, and those kept for others to come."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were taken from the driver."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Restarts all peaks of `memory_stats` from what is held now."""
    _cuda.reset_peaks(device)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Restarts what `memory_stats` counts in all: what came and went, retries, and calls of the driver."""
    _cuda.reset_totals(device)


def memory_snapshot() -> list[dict[str, Any]]:
    """All memory taken from the driver, on all GPUs: a dict for each segment, with its pieces in the order of their addresses.

    A segment has `device`, `address`, `total_size`, `allocated_size`, `active_size`, `requested_size` (bytes), `stream` (the
    driver's handle), `segment_type` ('small' or 'large'), `segment_pool_id` (of graphs; (0, 0): none) and `blocks`; a block
    `address`, `size`, `requested_size` and `state`: 'active_allocated', 'active_pending_free' (waits for another stream) or
    'inactive'. `frames` are empty: where memory was allocated is not kept.
    """
    return _cuda.snapshot()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Takes no more than this part of a GPU's memory from the driver: what would need more is an `OutOfMemoryError`.

    Raises:
        TypeError: `fraction` is no float.
        ValueError: it is not in [0, 1].
    """
    if not isinstance(fraction, float):
        raise TypeError(f"Invalid type for fraction argument, must be `float`, got {fraction!r}")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _cuda.set_memory_limit(int(_cuda.properties(device)["total_memory"] * fraction), device)
    _fractions[_index(device)] = fraction


def get_per_process_memory_fraction(device: Any = None) -> float:
    """What `set_per_process_memory_fraction` was given; 1.0 at first."""
    _cuda.properties(device)  # an error where there is no such GPU
    return _fractions.get(_index(device), 1.0)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and all bytes of a GPU, as the driver sees them."""
    return _cuda.memory_info(device)


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """The address of `size` bytes on a GPU, for other libraries; `caching_allocator_delete(address)` gives them back.

    Arguments:
        size: in bytes.
        device: a cuda device, an index, or None for the current one.
        stream: which may use the memory at once, a `Stream` or a driver's handle; by default the default one of the device.

    Raises:
        OutOfMemoryError: there is not so much.
    """
    if isinstance(stream, int):
        stream = _cuda.external_stream(stream, device)
    return _cuda.caching_allocator_alloc(size, device, stream)


_FIGURES = (
    ("allocated_bytes", "Allocated memory", True),
    ("active_bytes", "Active memory", True),
    ("requested_bytes", "Requested memory", True),
    ("reserved_bytes", "GPU reserved memory", True),
    ("inactive_split_bytes", "Non-releasable memory", True),
    ("allocation", "Allocations", False),
    ("active", "Active allocs", False),
    ("segment", "GPU reserved segments", False),
    ("inactive_split", "Non-releasable allocs", False),
)
_WHAT = ("current", "peak", "allocated", "freed")


def _text(n: int, is_bytes: bool) -> str:
    """Of up to six digits, with the unit they are in."""
    base, units = (1024, ("B  ", "KiB", "MiB", "GiB", "TiB")) if is_bytes else (1000, ("   ", "K  ", "M  "))
    unit = 0
    while n >= 768 * base and unit + 1 < len(units):
        n //= base
        unit += 1
    return f"{n:6d} {units[unit]}"


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The books of `memory_stats` as a table to print; `abbreviated`: without a line for each pool.

    Example::

        >>> print(ad.cuda.memory_summary())  # doctest: +SKIP
    """
    stats = memory_stats(device)
    title = f"adjoint CUDA memory summary, device ID {_index(device)}"
    counts = f"CUDA OOMs: {stats['num_ooms']:<12d} | cudaMalloc retries: {stats['num_alloc_retries']}"
    lines = ["=" * 75, f"{title:^75}", "-" * 75, f"{counts:^75}", "=" * 75]
    lines.append(f" {'Metric':^21} | {'Cur Usage':10} | {'Peak Usage':10} | {'Tot Alloc':10} | {'Tot Freed':10} ")
    for figure, name, is_bytes in _FIGURES:
        lines.append("-" * 75)
        pools = [("all", name), ("large_pool", "      from large pool"), ("small_pool", "      from small pool")]
        for pool, label in pools[: 1 if abbreviated else 3]:
            cells = [_text(stats[f"{figure}.{pool}.{what}"], is_bytes) for what in _WHAT]
            lines.append(f" {label:<21} | {' | '.join(cells)} ")
    lines.append("=" * 75)
    return "".join(f"|{line:<75}|\n" for line in lines)
