"""Schedules of learning rates: the module of `adjoint_functional`."""

from adjoint_functional.optim.lr_scheduler import *
