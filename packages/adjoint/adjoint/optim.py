"""Optimizers, and schedules of their learning rates."""

import sys as _sys

from adjoint_functional.optim import *  # noqa: F403
from adjoint_functional.optim import lr_scheduler as lr_scheduler

_sys.modules[__name__ + ".lr_scheduler"] = lr_scheduler
