"""Parameters and buffers of models."""

import importlib as _importlib

from adjoint_engine import Parameter as Parameter


def __getattr__(name: str) -> object:
    if name in (
        "Buffer",
        "UninitializedBuffer",
        "UninitializedParameter",
        "UninitializedTensorMixin",
        "is_lazy",
    ):  # imported when first used, as the modules are
        return getattr(
            _importlib.import_module("adjoint_functional.nn.modules" + (".module" if name == "Buffer" else ".lazy")), name
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
