"""GPUs, their streams, their memory and graphs of their work."""

import importlib as _importlib

from adjoint_core._tensor.typed import type_of as _type_of
from adjoint_core.cuda import *  # noqa: F403
from adjoint_core.cuda import load_kernels_from as _load_kernels_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from adjoint_functional.graphed import make_graphed_callables as make_graphed_callables

_load_kernels_from("adjoint_kernels_triton")


def __getattr__(name: str) -> object:
    if name == "make_graphed_callables":  # imported when first used
        return _importlib.import_module("adjoint_functional.graphed").make_graphed_callables
    if name == "amp":
        return _importlib.import_module(".amp", __name__)
    if name.endswith("Tensor"):
        return _type_of(name, "cuda")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
