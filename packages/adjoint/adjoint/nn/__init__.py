"""Layers: as functions (`functional`), as modules with parameters, and what is done to parameters (`utils`, `init`)."""

import importlib as _importlib
from typing import TYPE_CHECKING

from adjoint_engine import Parameter as Parameter

from . import functional as functional
from . import parameter as parameter
from . import utils as utils

if TYPE_CHECKING:
    from adjoint_functional.nn import init as init
    from adjoint_functional.nn.modules import *  # noqa: F403
    from adjoint_functional.nn.parallel.data_parallel import DataParallel as DataParallel

    from . import parallel as parallel


def _modules() -> object:
    return _importlib.import_module("adjoint_functional.nn.modules")  # imported when first used


def __getattr__(name: str) -> object:
    if name == "DataParallel":
        return _importlib.import_module("adjoint_functional.nn.parallel.data_parallel").DataParallel
    if name in ("_reduction", "attention", "common_types", "grad", "init", "modules", "parallel"):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    found = None if name.startswith("__") else getattr(_modules(), name, None)
    if not isinstance(found, type):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted(
        {*globals(), "init", "DataParallel", *(name for name, value in vars(_modules()).items() if isinstance(value, type))}
    )
