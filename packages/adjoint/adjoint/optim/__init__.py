"""Optimizers, and schedules of their learning rates."""

import sys as _sys

import adjoint_functional.optim as _optim
from adjoint_functional.optim import *  # noqa: F403
from adjoint_functional.optim import lr_scheduler as lr_scheduler
from adjoint_functional.optim import optimizer as optimizer
from adjoint_functional.optim import swa_utils as swa_utils

from .._homes import make_homes as _make_homes

for _part in (lr_scheduler, optimizer, swa_utils):
    _sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
_make_homes(_sys.modules[__name__], _optim)
