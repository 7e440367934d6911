"""Optimizers, and schedules of their learning rates."""

import sys as _sys

from adjoint_functional.optim import *  # noqa: F403
from adjoint_functional.optim import lr_scheduler as lr_scheduler
from adjoint_functional.optim import optimizer as optimizer
from adjoint_functional.optim import swa_utils as swa_utils

for _part in (lr_scheduler, optimizer, swa_utils):
    _sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
