"""The array API standard's `linalg`."""

from adjoint_functional.array_api.linalg import *  # noqa: F403
from adjoint_functional.array_api.linalg import __all__ as __all__
