"""Gradient clipping, and parameters as one vector."""

from adjoint_engine.parameters import *  # noqa: F403
