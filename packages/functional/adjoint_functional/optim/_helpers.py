"""What optimizers written for PyTorch take from `optim.optimizer`, under its private names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import set_grad_enabled


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` that is recorded if the optimizer's default `differentiable` is true, and only then."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _default_to_fused_or_foreach(params: list[Tensor], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Neither: parameters are stepped one by one."""
    return False, False


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that gives the function itself: nothing is compiled."""
    return lambda func: func


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Kinds of devices whose work can be captured."""
    return ["cuda"]


def _get_scalar_dtype(is_fused: bool | None = None) -> core.dtype:
    """The element type of counts of steps."""
    return core.float64 if core.get_default_dtype() == core.float64 and not is_fused else core.float32


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element; anything else itself."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without dimensions; a number itself."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _stack_if_compiling(x: Any) -> Any:
    """The value itself: nothing is compiled."""
    return x


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Puts pairs of real numbers in place of complex parameters, and of what stands beside these in the other lists."""
    for i, p in enumerate(params):
        if p.is_complex():
            for listed in (params, *state_and_grads):
                listed[i] = core.view_as_real(listed[i])
