"""What a step takes from how many there were. The count is a number on the host; with `capturable` it is a tensor beside the parameter on its
GPU, so that replays of a CUDA graph go on counting."""

from __future__ import annotations

import math
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor


def on_device(p: Tensor, group: dict[str, Any]) -> bool:
    """Whether numbers of the state lie beside the parameter."""
    return bool(group.get("capturable")) and p.is_cuda


def number(value: float, p: Tensor, group: dict[str, Any]) -> Tensor:
    """A number of the state, as it starts."""
    return core.full((), value, device=p.device) if on_device(p, group) else core.tensor(value)


def read(value: Tensor, p: Tensor, group: dict[str, Any]) -> Any:
    """A number of the state in formulas: a float, or on the GPU the tensor, which nothing waits for."""
    return value if on_device(p, group) else float(value)


def put(state: dict[str, Any], name: str, value: Tensor, group: dict[str, Any]) -> Tensor:
    """A new value of the state; in place where a replay reads what the last one left."""
    if group.get("capturable") and name in state:
        return state[name].copy_(value)
    state[name] = value
    return value


def less_power(beta: float, step: Any) -> Any:
    """1 - beta^step, to the last digits in float32 too."""
    if not isinstance(step, Tensor):
        return 1 - beta**step
    return -(step * math.log(beta)).expm1() if beta > 0 else core.ones_like(step)


def root(x: Any) -> Any:
    """The square root of a number or a tensor."""
    return x.sqrt() if isinstance(x, Tensor) else math.sqrt(x)


def take_ratio(p: Tensor, a: Tensor, b: Tensor, factor: Any) -> None:
    """p -= factor · a / b, in one pass where the factor is a number."""
    if isinstance(factor, Tensor):
        p.sub_(a / b * factor)
    else:
        p.addcdiv_(a, b, value=-factor)
