"""Optimizers."""

from adjoint_functional.optim import *  # noqa: F403
