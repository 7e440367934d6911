"""Gradient clipping, parameters as one vector, sequences of different lengths (`rnn`), and parametrized weights."""

import importlib as _importlib

from adjoint_functional.nn.utils.gradients import *  # noqa: F403


def __getattr__(name: str) -> object:
    if name in ("parametrizations", "parametrize", "rnn", "stateless"):  # imported when first used, as the modules are
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
