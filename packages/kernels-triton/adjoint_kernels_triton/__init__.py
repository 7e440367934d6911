"""GPU kernels for adjoint, written in Triton.

Importing this package is free of effects and does not import Triton. `register()` puts the kernels into the table of
`adjoint_core`; `import adjoint` calls it when the first operation runs on a GPU. Kernels of one's own are declared with
`elementwise` and `kernel`, at any time: see docs/add_a_kernel.md.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._declare import elementwise as elementwise
    from ._declare import kernel as kernel

__all__ = ["__version__", "elementwise", "kernel", "register"]
__version__ = "0.1.0"

_FAMILIES = (
    "unary", "special", "binary", "logic", "activation", "copy", "reduce", "pick", "normalise", "scan", "matmul", "index",
)  # fmt: skip


def register() -> None:
    """Declares the kernels of this package.

    Raises:
        RuntimeError: Triton is not installed.
    """
    try:
        importlib.import_module("triton")
    except ModuleNotFoundError as error:
        raise RuntimeError(
            'Triton compiles the kernels for GPUs and is not installed: pip install "adjoint[triton]"'
        ) from error
    for family in _FAMILIES:
        importlib.import_module(f"{__name__}.kernels.{family}")


def __getattr__(name: str) -> object:
    if name in ("elementwise", "kernel"):
        return getattr(importlib.import_module(f"{__name__}._declare"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
