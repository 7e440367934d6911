"""Gradients of each member of a batch."""

from adjoint_functional.nn.utils.per_sample import *  # noqa: F403
