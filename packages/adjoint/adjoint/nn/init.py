"""Values that parameters start from."""

from adjoint_functional.nn.init import *  # noqa: F403
