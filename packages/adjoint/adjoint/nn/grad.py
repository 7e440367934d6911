"""Gradients of convolutions as functions."""

from adjoint_functional.nn.grad import *  # noqa: F403
