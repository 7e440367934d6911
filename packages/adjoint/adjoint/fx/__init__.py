"""Classes of traced programs, of which there are none."""

import sys as _sys

from adjoint_functional import fx as _fx
from adjoint_functional.fx import *  # noqa: F403

from .._homes import make_homes as _make_homes

_make_homes(_sys.modules[__name__], _fx)
