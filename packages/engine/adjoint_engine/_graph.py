"""The graph as Python sees it: nodes, hooks on them, hooks on what they save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from adjoint_core import Tensor

from . import _engine
from ._engine import Node

_SAVED = {
    "self": (False, 0),
    "input": (False, 0),
    "other": (False, 1),
    "mat2": (False, 1),
    "weight": (False, 1),
    "result": (True, 0),
    "indices": (True, 1),
}


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook away; also a context manager."""

    def __init__(self, entry: Any) -> None:
        self._entry = entry

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        if self._entry is not None:
            self._entry.remove()
            self._entry = None

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.remove()


def _metadata(self: Any) -> dict[str, Any]:
    return self.__dict__.setdefault("_metadata", {})


def _saved(self: Any, name: str) -> Any:
    if name.startswith("_saved_") and _engine.node_op(self) is not None:
        key = name.removeprefix("_saved_")
        if key in _SAVED:
            return _engine.saved_tensor(self, *_SAVED[key])
    if name == "variable" and (leaf := _engine.node_variable(self)) is not None:
        return leaf
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


Node.name = lambda self: _engine.node_name(self)
Node.next_functions = property(_engine.next_functions)
Node.metadata = property(_metadata)
Node._sequence_nr = lambda self: _engine.sequence_nr(self)
Node.register_hook = lambda self, fn: RemovableHandle(_engine.register_node_hook(self, fn))
Node.register_prehook = lambda self, fn: RemovableHandle(_engine.register_node_prehook(self, fn))
Node.__getattr__ = _saved


class saved_tensors_hooks:
    """Every tensor saved for backward inside the block goes through ``pack_hook``, and back through ``unpack_hook``.

    Arguments:
        pack_hook: takes the tensor, returns anything.
        unpack_hook: takes that, returns a tensor of the same value.

    Example::

        >>> x = ad.tensor([1., 2.], requires_grad=True)
        >>> with ad.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), ad.from_numpy):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _engine.push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _engine.pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait in host memory, and come back to their device for backward."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda t: (t.device, t.cpu() if t.device.type != "cpu" else t.clone()), lambda saved: saved[1].to(saved[0])
        )


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> RemovableHandle:
    """Calls ``fn`` once the gradients of all ``tensors`` are there (mode "all": with a list, None where none came),
    or when the first one is (mode "any": with that gradient)."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    return _MultiHook(tensors, fn, mode)


class _MultiHook(RemovableHandle):
    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None], mode: str) -> None:
        super().__init__(None)
        self._grads: dict[int, Tensor] = {}
        self._count = len(tensors)
        self._fn = fn
        self._done = False
        self._handles = [t.register_hook(self._hook(i, mode)) for i, t in enumerate(tensors)]

    def _hook(self, index: int, mode: str) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            if mode == "any":
                if not self._done:
                    self._done = True
                    self._fn(grad)
                return
            self._grads[index] = grad
            if len(self._grads) == self._count:
                grads = [self._grads[i] for i in range(self._count)]
                self._grads = {}
                self._fn(grads)

        return hook

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Says that the memory of ``tensor`` was written by other means: backward will notice."""
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        _engine.bump_version(t)
