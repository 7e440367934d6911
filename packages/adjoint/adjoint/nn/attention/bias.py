"""Causal masks that say what they are."""

from adjoint_functional.nn.attention.bias import *  # noqa: F403
