"""GPU kernels for adjoint, written in Triton.

Importing this package is free of effects and does not import Triton; nor does a program all of whose kernels are
in the cache or prebuilt. `register()` puts the kernels into the table of
`adjoint_core`; `import adjoint` calls it when the first operation runs on a GPU. Kernels of one's own are declared with
`elementwise` and `kernel`, at any time: see docs/add_a_kernel.md.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._declare import complex_elementwise as complex_elementwise
    from ._declare import elementwise as elementwise
    from ._structured import complex_kernel as complex_kernel
    from ._structured import kernel as kernel
    from ._structured import sequence as sequence
    from ._structured import step as step
    from ._templates import widened as widened

_PLACES = {
    "complex_elementwise": "_declare",
    "complex_kernel": "_structured",
    "elementwise": "_declare",
    "kernel": "_structured",
    "sequence": "_structured",
    "step": "_structured",
    "widened": "_templates",
}

__all__ = [
    "__version__",
    "complex_elementwise",
    "complex_kernel",
    "elementwise",
    "kernel",
    "register",
    "sequence",
    "step",
    "widened",
]
__version__ = "0.1.0"


def register() -> None:
    """Registers the kernels of this package: from an index of compiled ones where there is one, else by their declarations.

    Raises:
        RuntimeError: there are no prebuilt kernels, and Triton is not installed.
    """
    importlib.import_module(f"{__name__}._registered").register()


def __getattr__(name: str) -> object:
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
