"""Recomputation instead of memory."""

from adjoint_engine.checkpoint import *  # noqa: F403
