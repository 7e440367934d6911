"""Sequences of different lengths as one padded or packed tensor."""

from adjoint_functional.nn.packed import *  # noqa: F403
from adjoint_functional.nn.sequences import *  # noqa: F403
