"""Parameters and buffers of models."""

import importlib as _importlib

from adjoint_engine import Parameter as Parameter


def __getattr__(name: str) -> object:
    if name == "Buffer":  # imported when first used, as the modules are
        return _importlib.import_module("adjoint_functional.nn.modules").Buffer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
