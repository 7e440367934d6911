"""The peak of memory that a call needs above its inputs, by each library's own books of its allocator."""

from __future__ import annotations

import gc
from typing import Any

from _cells import Thunk
from _compare import ad, torch

from adjoint_core import _core


def peak(lib: Any, thunk: Thunk) -> int:
    """Bytes at the highest point of a call that was made before, above what was there when it began; its result counts.

    Each is exact for what tensors and kernels take from the library's allocator, and blind to what BLAS and oneDNN keep for themselves.
    adjoint's counts blocks above 1 KiB at what was asked for, rounded up to a class; PyTorch's every allocation at the size that was asked for.
    """
    thunk()
    gc.collect()  # what dies in a circle would fall into the middle
    return (adjoint_peak if lib is ad else torch_peak)(thunk)


def adjoint_peak(thunk: Thunk) -> int:
    before = _core._memory_stats()[0]
    _core._reset_peak_memory()
    result = thunk()
    highest = _core._memory_stats()[1]
    del result
    return int(highest - before)


def torch_peak(thunk: Thunk) -> int:
    """From the profiler's events of the allocator, in their order."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, acc_events=True
    ) as record:
        result = thunk()
    del result
    events = [e for e in record.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = highest = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        highest = max(highest, live)
    return highest
