"""Autograd's attributes and methods of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor

from . import _engine
from ._backward import backward as _backward
from ._graph import RemovableHandle


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    _engine.set_requires_grad(self, requires_grad)
    return self


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Adds the gradients of this tensor to the ``.grad`` of the leaves; see ``autograd.backward``."""
    _backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Calls ``hook(grad)`` when the gradient of this tensor is known; what it returns replaces the gradient."""
    return RemovableHandle(_engine.register_tensor_hook(self, hook))


def _register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Calls ``hook(leaf)`` after ``leaf.grad`` was updated."""
    return RemovableHandle(_engine.register_accumulated_hook(self, hook))


def _detach_(self: Tensor) -> Tensor:
    _engine.detach_(self)
    return self


def _set_data(self: Tensor, source: Tensor) -> None:
    self._set_data(source)


_core_numpy = Tensor.numpy


def _numpy(self: Tensor, *, force: bool = False) -> Any:
    """A NumPy array that shares this tensor's memory. One that requires grad gives it only with ``force`` or under no_grad."""
    return _core_numpy(self, force=force or not _engine.grad_enabled())


def _delete_grad(self: Tensor) -> None:
    _engine.set_grad(self, None)


_ATTRIBUTES: dict[str, Any] = {
    "requires_grad": property(_engine.requires_grad, _engine.set_requires_grad),
    "grad": property(_engine.get_grad, _engine.set_grad, _delete_grad),
    "grad_dtype": property(_engine.get_grad_dtype, _engine.set_grad_dtype),
    "data": property(_engine.data, _set_data),
    "numpy": _numpy,
    "is_inference": lambda self: _engine.is_inference(self),
    "grad_fn": property(_engine.grad_fn),
    "is_leaf": property(_engine.is_leaf),
    "output_nr": property(_engine.output_nr),
    "retains_grad": property(_engine.retains_grad),
    "_base": property(_engine.base),
    "_is_view": lambda self: _engine.is_view(self),
    "requires_grad_": _requires_grad_,
    "backward": _tensor_backward,
    "detach": lambda self: _engine.detach(self),
    "detach_": _detach_,
    "retain_grad": lambda self: _engine.retain_grad(self),
    "register_hook": _register_hook,
    "register_post_accumulate_grad_hook": _register_post_accumulate_grad_hook,
}
for _name, _value in _ATTRIBUTES.items():
    setattr(Tensor, _name, _value)
