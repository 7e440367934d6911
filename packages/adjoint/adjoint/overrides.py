"""The protocol `__torch_function__`: classes and modes that answer calls themselves."""

from adjoint_core.overrides import *  # noqa: F403
from adjoint_core.overrides import _get_current_function_mode_stack as _get_current_function_mode_stack
from adjoint_core.overrides import _get_overloaded_args as _get_overloaded_args
