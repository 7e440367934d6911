"""The base of optimizers, and hooks of all of them."""

from __future__ import annotations

from typing import Any

from ._helpers import _default_to_fused_or_foreach as _default_to_fused_or_foreach
from ._helpers import _disable_dynamo_if_unsupported as _disable_dynamo_if_unsupported
from ._helpers import _get_capturable_supported_devices as _get_capturable_supported_devices
from ._helpers import _get_scalar_dtype as _get_scalar_dtype
from ._helpers import _get_value as _get_value
from ._helpers import _stack_if_compiling as _stack_if_compiling
from ._helpers import _to_scalar as _to_scalar
from ._helpers import _use_grad_for_differentiable as _use_grad_for_differentiable
from ._helpers import _view_as_real as _view_as_real
from ._hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from ._hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook
from ._optimizer import Optimizer as Optimizer

ParamsT = Any  # tensors, (name, tensor) pairs, or dicts with "params": for annotations
params_t = ParamsT
StateDict = dict[str, Any]
DeviceDict = dict[Any, Any]

# What optimizers that are written like PyTorch's own put into their documentation.
_params_doc = "params: the tensors to optimize, (name, tensor) pairs, or a dict with `params` for each group"
_foreach_doc = "foreach: accepted; tensors are stepped one at a time"
_fused_doc = "fused: accepted; there is one implementation"
_capturable_doc = "capturable: whether a step may be captured in a CUDA graph"
_differentiable_doc = "differentiable: whether gradients flow through a step"
_maximize_doc = "maximize: go up the gradient, not down"


class _RequiredParameter:
    """Stands in `defaults` for an option that each group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()
