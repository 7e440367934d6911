"""Averages as they are, and in half precision."""

from adjoint_functional.distributed.algorithms.ddp_comm_hooks.default_hooks import *  # noqa: F403
