"""Ready parametrizations of weights."""

from adjoint_functional.nn.parametrizations import *  # noqa: F403
