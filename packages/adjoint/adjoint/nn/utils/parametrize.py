"""Parameters as functions of other parameters."""

from adjoint_functional.nn.utils.parametrize import *  # noqa: F403
