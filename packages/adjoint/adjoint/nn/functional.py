"""Functions of neural networks."""

from adjoint_functional.nn.functional import *  # noqa: F403
