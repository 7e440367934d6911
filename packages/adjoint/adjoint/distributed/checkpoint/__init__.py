"""Checkpoints of one or many ranks: written in one step, checked when they are read, and loaded into any number of ranks."""

from adjoint_functional.distributed.checkpoint import *  # noqa: F403
