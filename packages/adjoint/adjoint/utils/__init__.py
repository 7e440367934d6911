"""Helpers around autograd: checkpoints and hook handles."""

import importlib as _importlib
from typing import TYPE_CHECKING

from . import hooks as hooks

if TYPE_CHECKING:
    from adjoint_functional.nn.conversion import swap_tensors as swap_tensors

    from . import backcompat as backcompat
    from . import benchmark as benchmark
    from . import checkpoint as checkpoint
    from . import collect_env as collect_env
    from . import data as data
    from . import dlpack as dlpack
    from . import flop_counter as flop_counter
    from . import model_zoo as model_zoo
    from . import module_tracker as module_tracker
    from . import tensorboard as tensorboard
    from . import weak as weak

_LATER = {  # imported when first used
    "_device", "_foreach_utils", "_python_dispatch", "_pytree", "backcompat", "benchmark", "checkpoint", "collect_env", "data", "dlpack",
    "flop_counter", "model_zoo", "module_tracker", "tensorboard", "weak",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _LATER:
        return _importlib.import_module("." + name, __name__)
    if name == "swap_tensors":
        return _importlib.import_module("adjoint_functional.nn.conversion").swap_tensors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
