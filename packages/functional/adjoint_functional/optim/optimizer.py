"""The base of optimizers, and hooks of all of them."""

from __future__ import annotations

from typing import Any

from ._hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from ._hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook
from ._optimizer import Optimizer as Optimizer

ParamsT = Any  # tensors, (name, tensor) pairs, or dicts with "params": for annotations
params_t = ParamsT


class _RequiredParameter:
    """Stands in `defaults` for an option that each group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()
