"""Sequences of different lengths as one padded tensor."""

from adjoint_functional.nn.sequences import *  # noqa: F403
