"""`cuda`: GPUs, their streams and their memory.

The NVIDIA driver is looked for when first needed; without one, `is_available()` is False and everything else raises
`RuntimeError`. The environment variable `ADJOINT_CUDA_DRIVER` names another library than `libcuda.so.1`.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager

from . import _core
from ._cuda.graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing
from ._cuda.memory import (
    caching_allocator_alloc,
    caching_allocator_delete,
    empty_cache,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from ._cuda.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_cuda = _core._cuda
Event = _cuda.Event
Stream = _cuda.Stream
can_device_access_peer = _cuda.can_device_access_peer
current_device = _cuda.current_device
current_stream = _cuda.current_stream
default_stream = _cuda.default_stream
device_count = _cuda.device_count
offload = _cuda.offload
set_device = _cuda.set_device
synchronize = _cuda.synchronize

__all__ = [
    "CUDAGraph", "DeviceProperties", "Event", "ExternalStream", "Stream", "StreamContext", "caching_allocator_alloc",
    "caching_allocator_delete", "can_device_access_peer", "current_device", "current_stream", "default_stream", "device",
    "device_count", "device_of", "empty_cache", "get_device_capability", "get_device_name", "get_device_properties",
    "get_per_process_memory_fraction", "get_rng_state", "get_rng_state_all", "get_stream_from_external", "graph",
    "graph_pool_handle", "initial_seed", "is_available", "is_bf16_supported", "is_current_stream_capturing",
    "is_initialized", "load_kernels_from", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict",
    "memory_summary", "offload", "reset_accumulated_memory_stats", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream", "stream",
    "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether tensors can live on a GPU.

    Example:
        >>> is_available() == (device_count() > 0)
        True
    """
    return device_count() > 0


def load_kernels_from(module: str) -> None:
    """Names the module to import, for the kernels it registers, when the first operation runs on a GPU."""

    def load() -> None:
        try:
            kernels = importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise RuntimeError(f'the kernels for GPUs are not installed ({module}): pip install "adjoint[triton]"') from error
        kernels.register()

    _cuda.set_kernel_loader(load)


class DeviceProperties:
    """What the driver says of a GPU: `name`, `major` and `minor` of its compute capability, `total_memory` in bytes,
    `multi_processor_count`, `warp_size`, `max_threads_per_block`, `max_threads_per_multi_processor`,
    `shared_memory_per_block`, `shared_memory_per_block_optin` and `L2_cache_size` in bytes, `is_integrated`."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_block: int
    max_threads_per_multi_processor: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    L2_cache_size: int
    is_integrated: bool

    def __init__(self, **facts: Any) -> None:
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        return f"DeviceProperties({', '.join(f'{name}={fact!r}' for name, fact in vars(self).items())})"


def get_device_properties(device: Any = None) -> DeviceProperties:
    """The properties of a GPU: the current one, or `device`."""
    return DeviceProperties(**_cuda.properties(device))


def get_device_name(device: Any = None) -> str:
    """The name of a GPU."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU: major and minor."""
    p = get_device_properties(device)
    return p.major, p.minor


def ExternalStream(stream_ptr: int, device: Any = None) -> Stream:
    """A stream that another library made and keeps alive.

    Arguments:
        stream_ptr: the driver's handle, as an integer.
        device: where it was made: a cuda device, an index, or None for the current one.
    """
    return _cuda.external_stream(stream_ptr, device)


get_stream_from_external = ExternalStream


def is_initialized() -> bool:
    """Whether a GPU has been used yet."""
    return _cuda.is_initialized()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether kernels can compute with bfloat16: on GPUs of capability 8.0 and above; without one, False."""
    return device_count() > 0 and get_device_capability() >= (8, 0)


class device:
    """A context in which the current device of this thread is another one; None changes nothing.

    Example::

        >>> with ad.cuda.device(1): x = ad.zeros(3, device="cuda")  # doctest: +SKIP
    """

    def __init__(self, device: Any) -> None:
        self._device = device

    def __enter__(self) -> None:
        self._before = current_device()
        if self._device is not None:
            set_device(self._device)

    def __exit__(self, *error: object) -> None:
        set_device(self._before)


class device_of(device):
    """A context in which the current device is that of a tensor; a tensor of the CPU changes nothing."""

    def __init__(self, obj: _core.Tensor) -> None:
        super().__init__(obj.device if obj.is_cuda else None)


def set_stream(stream: Stream | None) -> None:
    """Makes `stream` the current stream of its device for this thread; None changes nothing."""
    if stream is not None:
        _cuda.set_stream(stream)


@contextmanager
def stream(stream: Stream | None) -> Iterator[None]:
    """A context in which `stream` and its device are this thread's current ones; None changes nothing.

    Example::

        >>> with ad.cuda.stream(ad.cuda.Stream()): y = x * 2  # doctest: +SKIP
    """
    if stream is None:
        yield
        return
    with device(stream.device):
        before = _cuda.set_stream(stream)
        try:
            yield
        finally:
            _cuda.set_stream(before)


StreamContext = stream  # its class in PyTorch
