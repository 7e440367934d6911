"""Gradient clipping, parameters as one vector, and sequences of different lengths (`rnn`)."""

import importlib as _importlib

from adjoint_engine.parameters import *  # noqa: F403


def __getattr__(name: str) -> object:
    if name == "rnn":  # imported when first used, as the modules are
        return _importlib.import_module(".rnn", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
