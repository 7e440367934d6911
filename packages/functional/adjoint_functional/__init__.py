"""Jacobians, Hessians and their products, transformations of functions, and checks of derivatives.

``functional`` holds the functions of ``autograd.functional``, ``func`` those of ``func`` (which nest freely), and
``checking`` gradcheck and its kin; the names that do not clash stand here too. ``nn`` (modules) and ``optim`` are imported by name.
"""

import importlib as _importlib
import os as _os
from typing import TYPE_CHECKING

from adjoint_core import _core
from adjoint_engine.operators import PLACES as _PLACES

from . import aten as _aten
from . import composed as composed
from ._backend import TreeSpec as TreeSpec
from ._backend import tree_flatten as tree_flatten
from ._backend import tree_map as tree_map
from ._backend import tree_unflatten as tree_unflatten

if TYPE_CHECKING:
    from . import checking as checking
    from . import func as func
    from . import functional as functional
    from .checking import GradcheckError as GradcheckError
    from .checking import gradcheck as gradcheck
    from .checking import gradgradcheck as gradgradcheck

_core.skip_prefix(_os.path.dirname(__file__) + _os.sep)  # errors name the line that called
_PLACES += composed, _aten


def __getattr__(name: str) -> object:
    if name in ("checking", "func", "functional"):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    if name in ("GradcheckError", "gradcheck", "gradgradcheck"):
        return getattr(_importlib.import_module(".checking", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
