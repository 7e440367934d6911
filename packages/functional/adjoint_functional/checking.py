"""The names of ``adjoint.autograd.gradcheck`` (the module)."""

from ._gradcheck.gradcheck import gradcheck
from ._gradcheck.gradgradcheck import gradgradcheck
from ._gradcheck.jacobians import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)
from ._gradcheck.report import GradcheckError

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]
