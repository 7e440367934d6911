"""Special functions."""

from adjoint_functional.special import *  # noqa: F403
