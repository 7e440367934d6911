"""Collectives as functions of tensors."""

from adjoint_functional.distributed.nn.functional import *  # noqa: F403
