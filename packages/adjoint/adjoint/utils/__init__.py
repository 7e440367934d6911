"""Helpers around autograd: checkpoints and hook handles."""

import importlib as _importlib
from typing import TYPE_CHECKING

from . import hooks as hooks

if TYPE_CHECKING:
    from . import benchmark as benchmark
    from . import checkpoint as checkpoint
    from . import data as data
    from . import dlpack as dlpack
    from . import tensorboard as tensorboard


def __getattr__(name: str) -> object:
    if name in ("_foreach_utils", "_python_dispatch", "_pytree", "benchmark", "checkpoint", "data", "dlpack", "tensorboard"):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
