"""Classes of traced programs, of which there are none."""

from adjoint_functional.fx import *  # noqa: F403
