"""Linear algebra."""

from adjoint_core.linalg import *  # noqa: F403
