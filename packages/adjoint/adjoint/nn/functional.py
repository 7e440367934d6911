"""Functions of neural networks."""

from adjoint_core.nn_functional import *  # noqa: F403
