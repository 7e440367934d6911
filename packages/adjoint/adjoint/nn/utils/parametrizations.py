"""Ready parametrizations of weights."""

from adjoint_functional.nn.utils.parametrizations import *  # noqa: F403
