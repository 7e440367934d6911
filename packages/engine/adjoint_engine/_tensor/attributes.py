"""Autograd's attributes and methods of Tensor."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint_core import Tensor, strided
from adjoint_core._tensor import printing as _printing

from .. import _engine
from .._backward import backward as _backward
from .._graph.handle import EngineHandle, RemovableHandle
from .._graph.node import call_hooks


def _requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Says in place whether operations on this leaf are recorded; returns the tensor.

    Raises:
        RuntimeError: the element type is neither floating-point nor complex, or ``False`` for a tensor that has a history.
    """
    _set_requires_grad(self, requires_grad)
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
    return EngineHandle(_engine.register_tensor_hook(self, hook))


def _register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Calls ``hook(leaf)`` after ``leaf.grad`` was updated."""
    return EngineHandle(_engine.register_accumulated_hook(self, hook))


def _backward_hooks(self: Tensor) -> Mapping[int, Callable[[Tensor], Tensor | None]] | None:
    given = self.__dict__.get("_hooks_given")
    found = OrderedDict(enumerate(hook for _, hook in _engine.tensor_hooks(self))) if given is None else given
    return None if not found and given is None else found


def _set_backward_hooks(self: Tensor, hooks: Mapping[int, Callable[[Tensor], Tensor | None]] | None) -> None:
    self.__dict__["_hooks_given"] = hooks
    if not self.is_leaf or not self.requires_grad:  # a non-leaf's hooks are its node's: Node._register_hook_dict
        return
    for entry, _ in _engine.tensor_hooks(self):
        entry.remove()
    if hooks is not None:
        _engine.register_tensor_hook(self, functools.partial(call_hooks, hooks))


def _detach(self: Tensor) -> Tensor:
    """A view of the same memory without history: it does not require grad.

    Example::

        >>> ad.ones(2, requires_grad=True).detach().requires_grad
        False
    """
    return _engine.detach(self)


def _detach_(self: Tensor) -> Tensor:
    """Cuts this tensor off its history in place: it becomes a leaf that does not require grad.

    Raises:
        RuntimeError: the tensor is a view.
    """
    _engine.detach_(self)
    return self


def _retain_grad(self: Tensor) -> None:
    """Makes backward keep the gradient of this non-leaf in ``.grad``.

    Raises:
        RuntimeError: the tensor does not require grad.
    """
    _engine.retain_grad(self)


def _is_inference(self: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return _engine.is_inference(self)


def _is_view(self: Tensor) -> bool:
    """Whether autograd knows this tensor as a view of another."""
    return _engine.is_view(self)


def _set_requires_grad(self: Tensor, requires_grad: bool) -> None:
    if not isinstance(requires_grad, bool):
        raise RuntimeError(f"requires_grad must be a bool, got {requires_grad!r}")
    _engine.set_requires_grad(self, requires_grad)


def _set_grad(self: Tensor, grad: Tensor | None) -> None:
    if grad is not None and not isinstance(grad, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}")
    _engine.set_grad(self, grad)


def _set_data(self: Tensor, source: Tensor) -> None:
    if not isinstance(source, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(source).__name__}")
    if (self.layout is strided) != (source.layout is strided):
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type: "
            f"{self.layout} and {source.layout}."
        )
    if _engine.requires_grad(self) and not (source.is_floating_point() or source.is_complex()):
        raise RuntimeError(
            f"data set to a tensor that requires gradients must be floating point or complex dtype, got {source.dtype}"
        )
    _engine.replaced(self, self._set_data(source, True))


_core_set = Tensor.set_


def _set(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Sequence[int] = ()
) -> Tensor:
    """Looks at other memory from now on; counts as a write. Graphs made before do not lead to this tensor any more.

    Arguments:
        source: a tensor, whose memory and shape it takes, or a `Storage`; none empties the tensor.
        storage_offset: the first element in that memory.
        size: the shape; that of ``source`` by default, all of a storage.
        stride: of each dimension; those of a contiguous tensor by default.

    Raises:
        RuntimeError: a tensor that requires grad, outside of ``no_grad``; a source of another element type; memory that does not reach.
    """
    if self.requires_grad and _engine.grad_enabled():
        if self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation. (set_)")
        raise RuntimeError("set_: the derivative is not implemented")
    before = self._alias()
    _core_set(self, source, storage_offset, size, stride)
    _engine.forget_accumulator(self)
    _engine.replaced(self, before)
    return self


_core_numpy = Tensor.numpy


def _numpy(self: Tensor, *, force: bool = False) -> Any:
    """A NumPy array that shares this tensor's memory. One that requires grad gives it only with ``force`` or under no_grad."""
    return _core_numpy(self, force=force or not _engine.grad_enabled())


_core_repr = Tensor.__repr__


def _repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """Inside a transform: the level's name around the value below it, which has all lanes of a batch. A dual tensor shows its tangent."""
    layer = _engine.layer(self)
    if layer is None:
        return _core_repr(self if self._storage_ptr() else _engine.fresh(self), tensor_contents=tensor_contents)
    level, batch_dim, value, tangent = layer
    if level == 0:
        return _printing.dual_repr(self, value if _engine.is_lifted(value) else _engine.detach(value), tangent)
    name = f"GradTrackingTensor(lvl={level}" if batch_dim < 0 else f"BatchedTensor(lvl={level}, bdim={batch_dim}"
    within = repr(value).replace("\n", "\n    ")
    return f"{name}, value=\n    {within}\n)"


VOLATILE = "volatile was removed and now has no effect. Use `with adjoint.no_grad():` instead."


def _volatile(self: Tensor) -> bool:
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _set_volatile(self: Tensor, value: Any) -> None:
    warnings.warn(VOLATILE, stacklevel=2)


def _delete_grad(self: Tensor) -> None:
    _engine.set_grad(self, None)


def _not_deletable(message: str) -> Callable[[Tensor], None]:
    def delete(self: Tensor) -> None:
        raise RuntimeError(message)

    return delete


_ATTRIBUTES: dict[str, Any] = {
    "requires_grad": property(
        _engine.requires_grad,
        _set_requires_grad,
        _not_deletable("requires_grad must be a bool: it cannot be deleted"),
        "Whether operations on the tensor are recorded.",
    ),
    "grad": property(_engine.get_grad, _set_grad, _delete_grad, "The gradient that backward added up here; None before."),
    "grad_dtype": property(
        _engine.get_grad_dtype, _engine.set_grad_dtype, doc="The element type of ``.grad``; None allows any."
    ),
    "data": property(
        _engine.data,
        _set_data,
        _not_deletable("Deleting tensor data is not allowed. Delete tensor instead!"),
        "The same memory without history; assigning replaces the memory.",
    ),
    "set_": _set,
    "numpy": _numpy,
    "__repr__": _repr,
    "is_inference": _is_inference,
    "grad_fn": property(_engine.grad_fn, doc="The node whose output this tensor is; None for a leaf."),
    "_grad_fn": property(_engine.grad_fn, None, _not_deletable("Deletion of _grad_fn not allowed. Detach tensor instead!")),
    "is_leaf": property(_engine.is_leaf, doc="Whether the tensor has no node, or does not require grad."),
    "output_nr": property(_engine.output_nr, doc="Which output of ``grad_fn`` this tensor is."),
    "retains_grad": property(_engine.retains_grad, doc="Whether ``retain_grad`` was called on this non-leaf."),
    "_backward_hooks": property(
        _backward_hooks,
        _set_backward_hooks,
        _not_deletable("Deletion of _backwards_hooks not allowed!"),
        "The hooks on the tensor, by number; None without any. Assigning replaces a leaf's.",
    ),
    "_base": property(_engine.base, doc="The tensor that this one is a view of; None if it is none."),
    "_is_view": lambda self: _engine.is_view(self),
    "volatile": property(_volatile, _set_volatile, doc="Before 0.4, what `no_grad` does now: always False."),
    "requires_grad_": _requires_grad_,
    "backward": _tensor_backward,
    "detach": _detach,
    "detach_": _detach_,
    "retain_grad": _retain_grad,
    "register_hook": _register_hook,
    "register_post_accumulate_grad_hook": _register_post_accumulate_grad_hook,
}
for _name, _value in _ATTRIBUTES.items():
    setattr(Tensor, _name, _value)


def _inplace_view(name: str) -> Callable[..., Tensor]:
    view = getattr(Tensor, name)

    def become(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        _engine.become(self, view(self, *args, **kwargs))
        return self

    become.__name__ = name + "_"
    become.__doc__ = f"Turns this tensor into what `{name}` returns."
    return become


for _name in ("as_strided", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze"):
    setattr(Tensor, _name + "_", _inplace_view(_name))


detach, detach_ = _detach, _detach_


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode.

    Example::

        >>> with ad.inference_mode():
        ...     x = ad.ones(2)
        >>> ad.is_inference(x), ad.is_inference(ad.ones(2))
        (True, False)
    """
    return _engine.is_inference(input)


# ---- __torch_dispatch__


def _disabled_torch_dispatch_impl(func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """Runs ``func`` where no class is asked: what a class gets from ``super().__torch_dispatch__``."""
    before = _engine.set_dispatch_off(True)
    try:
        return func(*args, **(kwargs or {}))
    finally:
        _engine.set_dispatch_off(before)


def _answer(call: Any, operands: list[Any]) -> Any:
    from .._dispatch.asking import answer  # imported when a class or a mode comes

    return answer(call, operands)


def _answer_detach(t: Tensor) -> Tensor:
    from .._dispatch.asking import answer_detach

    return answer_detach(t)


Tensor.__torch_dispatch__ = staticmethod(_disabled_torch_dispatch_impl)  # type: ignore[attr-defined]
_engine.set_dispatcher(_answer, _answer_detach)
