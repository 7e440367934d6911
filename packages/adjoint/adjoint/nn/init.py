"""Values that parameters start from."""

from adjoint_functional.nn.init import *  # noqa: F403
from adjoint_functional.nn.init import _calculate_correct_fan as _calculate_correct_fan
from adjoint_functional.nn.init import _calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out
from adjoint_functional.nn.init import _no_grad_fill_ as _no_grad_fill_
from adjoint_functional.nn.init import _no_grad_normal_ as _no_grad_normal_
from adjoint_functional.nn.init import _no_grad_trunc_normal_ as _no_grad_trunc_normal_
from adjoint_functional.nn.init import _no_grad_uniform_ as _no_grad_uniform_
from adjoint_functional.nn.init import _no_grad_zero_ as _no_grad_zero_
