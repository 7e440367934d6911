"""Linear algebra."""

from adjoint_functional.linalg import *  # noqa: F403
