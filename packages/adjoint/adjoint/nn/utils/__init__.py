"""Gradient clipping, parameters as one vector, sequences of different lengths (`rnn`), and parametrized weights."""

import importlib as _importlib

from adjoint_functional.nn.utils.gradients import *  # noqa: F403

_MODULES = {
    "_per_sample_grad", "clip_grad", "convert_parameters", "fusion", "init", "memory_format", "parametrizations", "parametrize", "prune", "rnn", "stateless",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if "_norm" in name and not name.startswith("_"):
        return getattr(_importlib.import_module("adjoint_functional.nn.utils.hooked_weights"), name)
    if name.startswith("fuse_"):
        return getattr(_importlib.import_module(".fusion", __name__), name)
    if name == "skip_init" or name.startswith("convert_conv"):
        return getattr(_importlib.import_module("adjoint_functional.nn.utils.making"), name)
    if name in _MODULES:  # imported when first used, as the modules are
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
