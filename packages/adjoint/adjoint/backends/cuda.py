"""What products and attention on GPUs may do: TF32; switches of PyTorch's kernels, which are remembered, and which nobody reads."""

import contextlib as _contextlib
import warnings as _warnings
from collections.abc import Iterator as _Iterator
from dataclasses import dataclass as _dataclass
from typing import Any as _Any

from adjoint_core import cuda as _devices
from adjoint_core.backends import cuda as _cuda
from adjoint_functional.nn.attention import SDPBackend as SDPBackend

matmul = _cuda.matmul
_enabled = dict.fromkeys(("flash", "mem_efficient", "math", "cudnn"), True)
_half_sums = False


def is_built() -> bool:
    """Whether there is a GPU to make kernels for: programs that ask this take the device that they name next."""
    return _devices.is_available()


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` was told."""
    return _enabled["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Remembered: attention has one kernel."""
    _enabled["flash"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` was told."""
    return _enabled["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Remembered: attention has one kernel."""
    _enabled["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` was told."""
    return _enabled["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Remembered: attention has one kernel."""
    _enabled["math"] = enabled


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` was told."""
    return _enabled["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Remembered: attention has one kernel."""
    _enabled["cudnn"] = enabled


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Remembered: sums of half precision are taken in single."""
    global _half_sums
    _half_sums = enabled


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """What `allow_fp16_bf16_reduction_math_sdp` was told."""
    return _half_sums


def is_flash_attention_available() -> bool:
    """False: PyTorch's kernel is not there."""
    return False


@_dataclass
class SDPAParams:
    """What attention would be called with."""

    query: _Any
    key: _Any
    value: _Any
    attn_mask: _Any
    dropout: float
    is_causal: bool
    enable_gqa: bool = False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: PyTorch's kernels are not there."""
    return False


can_use_cudnn_attention = can_use_efficient_attention = can_use_flash_attention


@_contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> _Iterator[dict[str, _Any]]:
    """The older form of `nn.attention.sdpa_kernel`: remembers the switches within a `with`."""
    _warnings.warn("backends.cuda.sdp_kernel() is deprecated: use nn.attention.sdpa_kernel()", FutureWarning, stacklevel=3)
    before = dict(_enabled)
    _enabled.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _enabled.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """The word "default": its kernels are its own."""
    return "default"


preferred_blas_library = preferred_linalg_library
