"""Python functions of elements, one by one, and what is written on a diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._compose import method
from .._core import Tensor


def _elements(name: str, x: Tensor) -> None:
    if getattr(x, "requires_grad", False):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


@method
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by what a Python function makes of it: slow."""
    _elements("apply_", self)
    return self.copy_(_core.tensor([callable(v) for v in self.reshape(-1).tolist()], dtype=self.dtype).reshape(self.shape))


@method
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by a Python function of it and of the element of `tensor`: slow."""
    _elements("map_", self)
    other = tensor.expand(self.shape).reshape(-1).tolist()
    values = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), other)]
    return self.copy_(_core.tensor(values, dtype=self.dtype).reshape(self.shape))


@method
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Writes `fill_value` on the main diagonal; with `wrap`, again below a tall matrix."""
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) != 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(self.shape)
    if self.ndim == 2 and wrap and self.size(0) > self.size(1):
        at = _core.arange(0, self.numel(), self.size(1) + 1, device=self.device)
        self[at // self.size(1), at % self.size(1)] = fill_value
    else:
        self[(_core.arange(n, device=self.device),) * self.ndim] = fill_value
    return self
