"""Programs traced into graphs."""

import sys as _sys

from adjoint_functional import fx as _fx
from adjoint_functional.fx import *  # noqa: F403
from adjoint_functional.fx import _USER_PRESERVED_ATTRIBUTES_KEY as _USER_PRESERVED_ATTRIBUTES_KEY
from adjoint_functional.fx import _CodeOnlyModule as _CodeOnlyModule
from adjoint_functional.fx import _copy_attr as _copy_attr

from .._homes import make_homes as _make_homes

_make_homes(_sys.modules[__name__], _fx)
