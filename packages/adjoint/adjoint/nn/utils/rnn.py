"""Sequences of different lengths as one padded or packed tensor."""

from adjoint_functional.nn.utils.packed import *  # noqa: F403
from adjoint_functional.nn.utils.sequences import *  # noqa: F403
