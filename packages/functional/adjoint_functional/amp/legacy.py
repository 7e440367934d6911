"""``cuda.amp`` and ``cpu.amp``: older names that PyTorch keeps, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import adjoint_core as core

from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["cpu", "cuda"]


def _warn(old: str, new: str) -> None:
    warnings.warn(f"`torch.{old}` is deprecated. Please use `torch.{new}` instead.", FutureWarning, stacklevel=3)


class _CudaAutocast(autocast):
    """``autocast("cuda", ...)``."""

    def __init__(self, enabled: bool = True, dtype: core.dtype = core.float16, cache_enabled: bool = True) -> None:
        _warn("cuda.amp.autocast(args...)", "amp.autocast('cuda', args...)")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class _CpuAutocast(autocast):
    """``autocast("cpu", ...)``."""

    def __init__(self, enabled: bool = True, dtype: core.dtype = core.bfloat16, cache_enabled: bool = True) -> None:
        _warn("cpu.amp.autocast(args...)", "amp.autocast('cpu', args...)")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class _CudaGradScaler(GradScaler):
    """``GradScaler("cuda", ...)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("cuda.amp.GradScaler(args...)", "amp.GradScaler('cuda', args...)")
        super().__init__("cuda", *args, **kwargs)


class _CpuGradScaler(GradScaler):
    """``GradScaler("cpu", ...)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("cpu.amp.GradScaler(args...)", "amp.GradScaler('cpu', args...)")
        super().__init__("cpu", *args, **kwargs)


def _custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: core.dtype | None = None) -> Any:
    _warn("cuda.amp.custom_fwd(args...)", "amp.custom_fwd(args..., device_type='cuda')")
    return custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def _custom_bwd(bwd: Callable[..., Any]) -> Any:
    _warn("cuda.amp.custom_bwd(args...)", "amp.custom_bwd(args..., device_type='cuda')")
    return custom_bwd(bwd, device_type="cuda")


cuda: dict[str, Any] = {
    "autocast": _CudaAutocast, "GradScaler": _CudaGradScaler, "custom_fwd": _custom_fwd, "custom_bwd": _custom_bwd,
}  # fmt: skip
"The names of ``cuda.amp``."
cpu: dict[str, Any] = {"autocast": _CpuAutocast, "GradScaler": _CpuGradScaler}
"The names of ``cpu.amp``."
for _name, _thing in (*cuda.items(), *cpu.items()):
    _thing.__name__ = _thing.__qualname__ = _name
