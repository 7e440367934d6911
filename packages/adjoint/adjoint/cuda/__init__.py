"""GPUs, their streams, their memory and graphs of their work."""

import importlib as _importlib

from adjoint_core._tensor.typed import type_of as _type_of
from adjoint_core.cuda import *  # noqa: F403
from adjoint_core.cuda import load_kernels_from as _load_kernels_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from adjoint._made import OutOfMemoryError as OutOfMemoryError
    from adjoint_functional.graphed import make_graphed_callables as make_graphed_callables
else:
    from adjoint_core import OutOfMemoryError as OutOfMemoryError

has_half, has_magma = True, False
_OLDER = {
    "max_memory_cached": "max_memory_reserved",
    "memory_cached": "memory_reserved",
    "reset_max_memory_allocated": "reset_peak_memory_stats",
    "reset_max_memory_cached": "reset_peak_memory_stats",
}
_load_kernels_from("adjoint_kernels_triton")


def init() -> None:
    """Nothing: a GPU is set up when it is used."""


def ipc_collect() -> None:
    """Nothing: no memory of GPUs is shared between processes."""


def get_arch_list() -> list[str]:
    """Empty: kernels are compiled for the GPU that is there."""
    return []


def get_gencode_flags() -> str:
    """Empty: nothing was compiled before."""
    return ""


def __getattr__(name: str) -> object:
    if name == "make_graphed_callables":  # imported when first used
        return _importlib.import_module("adjoint_functional.graphed").make_graphed_callables
    if name in ("amp", "nvtx"):
        return _importlib.import_module("." + name, __name__)
    if name in _OLDER:
        return globals()[_OLDER[name]]
    if name.endswith("Tensor"):
        return _type_of(name, "cuda")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
