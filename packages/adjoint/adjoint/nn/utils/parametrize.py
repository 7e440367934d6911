"""Parameters as functions of other parameters."""

from adjoint_functional.nn.parametrize import *  # noqa: F403
