"""Batches of tensors of different sizes, without padding."""

from adjoint_functional.nested import *  # noqa: F403
