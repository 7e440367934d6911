"""The modules of `nn`, in the modules where PyTorch keeps them."""

import sys as _sys

import adjoint_functional.nn.modules as _nn
from adjoint_functional.nn.modules import *  # noqa: F403

from ..._homes import make_homes as _make_homes
from . import utils as utils

_make_homes(_sys.modules[__name__], _nn)
