"""Modes of recording."""

from adjoint_engine import _force_original_view_tracking as _force_original_view_tracking
from adjoint_engine import enable_grad as enable_grad
from adjoint_engine import enforce_grad_layout_policy as enforce_grad_layout_policy
from adjoint_engine import inference_mode as inference_mode
from adjoint_engine import no_grad as no_grad
from adjoint_engine import set_grad_enabled as set_grad_enabled
from adjoint_engine import set_multithreading_enabled as set_multithreading_enabled
from adjoint_engine._graph.node import unsafe_preserve_version_counter as _unsafe_preserve_version_counter  # noqa: F401
from adjoint_engine._modes.switches import DecoratorContextManager as _DecoratorContextManager  # noqa: F401
