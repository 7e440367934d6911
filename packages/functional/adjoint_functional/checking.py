"""The names of ``adjoint.autograd.gradcheck`` (the module)."""

from ._gradcheck import gradcheck
from ._gradgradcheck import gradgradcheck
from ._legacy import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)
from ._report import GradcheckError

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]
