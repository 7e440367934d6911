"""Layers: as functions (`functional`), as modules with parameters, and what is done to parameters (`utils`, `init`)."""

import importlib as _importlib
from typing import TYPE_CHECKING

from adjoint_engine import Parameter as Parameter

from . import functional as functional
from . import parameter as parameter
from . import utils as utils

if TYPE_CHECKING:
    from adjoint_functional.nn import *  # noqa: F403
    from adjoint_functional.nn import init as init


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "init":
        return _importlib.import_module(".init", __name__)
    return getattr(_importlib.import_module("adjoint_functional.nn"), name)  # modules are imported when first used


def __dir__() -> list[str]:
    return sorted({*globals(), *vars(_importlib.import_module("adjoint_functional.nn"))})
