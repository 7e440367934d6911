"""Jacobians, Hessians and their products, transformations of functions, and checks of derivatives.

``functional`` holds the functions of ``autograd.functional``, ``func`` those of ``func`` (which nest freely), and
``checking`` gradcheck and its kin; the names that do not clash stand here too. ``nn`` (modules) and ``optim`` are imported by name.
"""

import os as _os

from adjoint_core import _core
from adjoint_engine.operators import PLACES as _PLACES

from . import checking as checking
from . import composed as composed
from . import func as func
from . import functional as functional
from ._backend import TreeSpec as TreeSpec
from ._backend import tree_flatten as tree_flatten
from ._backend import tree_map as tree_map
from ._backend import tree_unflatten as tree_unflatten
from ._gradcheck.gradcheck import gradcheck as gradcheck
from ._gradcheck.gradgradcheck import gradgradcheck as gradgradcheck
from ._gradcheck.report import GradcheckError as GradcheckError

_core.skip_prefix(_os.path.dirname(__file__) + _os.sep)  # errors name the line that called
_PLACES.append(composed)
