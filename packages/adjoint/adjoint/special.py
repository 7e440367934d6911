"""Special functions."""

from adjoint_core.special import *  # noqa: F403
