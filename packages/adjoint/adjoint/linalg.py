"""Norms and products of vectors and matrices."""

from adjoint_core.linalg import *  # noqa: F403
