"""How `Module.to` and its kin give parameters their new memory: what fits, `__future__`'s switches, and `utils.swap_tensors`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import Parameter
from adjoint_engine.dispatch import is_traceable_wrapper_subclass

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion", "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]  # fmt: skip

_overwrite = _swap = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversions of modules give them new parameters, in place of new memory for those that they have.

    Example::

        >>> layer = ad.nn.Linear(1, 1)
        >>> before = layer.weight
        >>> ad.__future__.set_overwrite_module_params_on_conversion(True)
        >>> layer.double().weight is before
        False
        >>> ad.__future__.set_overwrite_module_params_on_conversion(False)
        >>> layer.float().weight is before, before.dtype
        (False, adjoint.float32)
    """
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions of modules give them new parameters; False unless set."""
    return _overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions of modules exchange parameters with the converted ones by `utils.swap_tensors`, so that classes and attributes of what
    was made of them come along; it goes before overwriting."""
    global _swap
    _swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions of modules exchange parameters; False unless set."""
    return _swap


def _has_compatible_shallow_copy_type(self: Tensor, other: Tensor, /) -> bool:
    """Whether ``self.data = other`` fits: the same layout, and both in memory or both without (meta).

    Example::

        >>> ad._has_compatible_shallow_copy_type(ad.eye(2), ad.ones(3)), ad._has_compatible_shallow_copy_type(ad.eye(2), ad.eye(2).to_sparse())
        (True, False)
    """
    return (self.is_meta, self.layout) == (other.is_meta, other.layout)


def converted(p: Any, fn: Callable[[Tensor], Tensor]) -> Any:
    """What takes a parameter's place, with `fn` of its memory and of its gradient: itself, unless `__future__` says otherwise."""
    grad, p.grad = p.grad, None
    made = fn(p.data)
    if _swap or is_traceable_wrapper_subclass(made):
        swap_tensors(p, Parameter(made, p.requires_grad))
        if grad is not None:
            swap_tensors(grad, fn(grad.data).requires_grad_(grad.requires_grad))
    elif _overwrite:
        grad = None if grad is None else fn(grad.data).requires_grad_(grad.requires_grad)
        p = Parameter(made, p.requires_grad)
    else:
        if grad is not None:
            grad.data = fn(grad.data)
        p.data = made
    p.grad = grad
    return p


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchanges two tensors: memory, type, class, attributes, gradient, whether a gradient is needed. Who holds one has the other now.

    Raises:
        RuntimeError: one was computed with a graph, whose nodes would not follow.

    Example::

        >>> a, b = ad.zeros(1), ad.ones(2)
        >>> ad.utils.swap_tensors(a, b)
        >>> a, b
        (tensor([1., 1.]), tensor([0.]))
    """
    if t1 is t2:
        return
    if not (t1.is_leaf and t2.is_leaf):
        raise RuntimeError("swap_tensors: both must be leaves of the graph, got one that was computed")
    first, second = _taken(t1), _taken(t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    _give(t1, second)
    _give(t2, first)


def _taken(t: Tensor) -> tuple[Tensor, bool, Tensor | None, dict[str, Any]]:
    """What a tensor is, which no longer needs a gradient."""
    taken = t.data, t.requires_grad, t.grad, dict(t.__dict__)
    t.grad = None
    t.requires_grad_(False)
    t.__dict__.clear()
    return taken


def _give(t: Tensor, given: tuple[Tensor, bool, Tensor | None, dict[str, Any]]) -> None:
    data, needs, grad, attributes = given
    t.data = data
    t.requires_grad_(needs)
    t.grad = grad
    t.__dict__.update(attributes)
