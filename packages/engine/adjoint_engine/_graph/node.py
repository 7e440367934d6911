"""The graph as Python sees it: nodes and hooks on them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from adjoint_core import Tensor

from .. import _engine
from .._engine import Node
from . import stacks as _stacks
from .attributes import attribute, attribute_names
from .handle import EngineHandle, RemovableHandle


def _metadata(self: Any) -> dict[str, Any]:
    """A dict for the user; anomaly mode puts the forward stack in (``traceback_``), and the node whose backward made this one."""
    found = self.__dict__.get("_metadata")
    if found is None:
        found = self.__dict__["_metadata"] = {}
        if (trace := _engine.node_trace(self)) is not None:
            found["traceback_"] = _stacks.text(trace[0])
            if trace[1] is not None:
                found["parent_"] = trace[1]
    return found


class _Metadata(NamedTuple):
    """The shape, dtype and device of one output of a node, and so of its cotangent."""

    shape: Any
    dtype: Any
    device: Any
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def _input_metadata(self: Any) -> tuple[_Metadata, ...]:
    """What each cotangent that this node takes looks like."""
    return tuple(_Metadata(*m) for m in _engine.node_outputs(self))


def call_hooks(hooks: Mapping[int, Callable[[Tensor], Tensor | None]] | None, grad: Tensor) -> Tensor:
    """What a dict of hooks makes of a gradient."""
    for hook in list((hooks or {}).values()):
        changed = hook(grad)
        grad = grad if changed is None else changed
    return grad


def _register_hook_dict(self: Any, tensor: Tensor) -> None:
    """Calls the hooks in ``tensor._backward_hooks`` on the gradient of ``tensor``, an output of this node."""
    nr = tensor.output_nr

    def prehook(grads: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
        g = grads[nr]
        return (*grads[:nr], None if g is None else call_hooks(tensor._backward_hooks, g), *grads[nr + 1 :])

    _engine.register_node_prehook(self, prehook)


def _name(self: Any) -> str:
    """The operation's name with PyTorch's ending, such as ``MulBackward0``."""
    return _engine.node_name(self)


def _sequence_nr(self: Any) -> int:
    """The number of the call that made this node: backward runs higher ones first."""
    return _engine.sequence_nr(self)


def _set_sequence_nr(self: Any, nr: int) -> None:
    """Gives the node another number, and so another place in the order of backward."""
    _engine.set_sequence_nr(self, nr)


def _register_hook(self: Any, fn: Callable[..., Any]) -> RemovableHandle:
    """Calls ``fn(grad_inputs, grad_outputs)`` after this node ran; what it returns replaces ``grad_inputs``."""
    return EngineHandle(_engine.register_node_hook(self, fn))


def _register_prehook(self: Any, fn: Callable[..., Any]) -> RemovableHandle:
    """Calls ``fn(grad_outputs)`` before this node runs; what it returns replaces ``grad_outputs``."""
    return EngineHandle(_engine.register_node_prehook(self, fn))


def _call(self: Any, *grads: Tensor | None) -> Any:
    """Runs the node alone: the gradients of its inputs, given those of its outputs."""
    return _engine.call_node(self, list(grads))


Node.name = _name
Node.next_functions = property(_engine.next_functions, doc="For each input the node that made it, and which of its outputs.")
Node.metadata = property(_metadata)
Node._input_metadata = property(_input_metadata)
Node._sequence_nr = _sequence_nr
Node._set_sequence_nr = _set_sequence_nr
Node.register_hook = _register_hook
Node.register_prehook = _register_prehook
Node.__getattr__ = attribute
Node.__dir__ = attribute_names
Node.__call__ = _call
Node.requires_grad = True  # there is no node where nothing requires grad
Node._register_hook_dict = _register_hook_dict


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> RemovableHandle:
    """Calls ``fn`` once the gradients of all ``tensors`` are there (mode "all": with a list, None where none came),
    or when the first one is (mode "any": with that gradient).

    Raises:
        ValueError: another ``mode``.

    Example::

        >>> x, y = ad.ones(2, requires_grad=True), ad.ones(2, requires_grad=True)
        >>> handle = ad.autograd.graph.register_multi_grad_hook((x, y), print)
        >>> (x * y).sum().backward()
        [tensor([1., 1.]), tensor([1., 1.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    return _MultiHook(tensors, fn, mode)


_TASKS_KEPT = 4096  # more than run at once, in all threads


class _MultiHook(RemovableHandle):
    """One hook per tensor; those of one backward (a task) report together."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None], mode: str) -> None:
        super().__init__({})
        if mode == "any":
            tensors = [t for t in tensors if t.requires_grad]
        self._nodes = [_engine.gradient_edge(t)[0] for t in tensors]
        self._fn = fn
        self._tasks: dict[int, dict[int, Tensor]] = {}
        self._expected: dict[int, int] = {}
        self._reported: dict[int, None] = {}  # the newest tasks of which a gradient was seen (mode "any")
        self._lock = threading.Lock()
        hook = self._first if mode == "any" else self._collect
        self._handles = [t.register_hook(functools.partial(hook, i)) for i, t in enumerate(tensors)]

    def _first(self, index: int, grad: Tensor) -> None:
        task = _engine.current_task()
        with self._lock:
            if task in self._reported:
                return
            self._reported[task] = None
            if len(self._reported) > _TASKS_KEPT:
                del self._reported[next(iter(self._reported))]
        self._fn(grad)

    def _collect(self, index: int, grad: Tensor) -> None:
        task = _engine.current_task()
        with self._lock:
            if task not in self._tasks:
                self._tasks[task] = {}
                self._expected[task] = sum(_engine.will_execute(n) for n in self._nodes)
            grads = self._tasks[task]
            grads[index] = grad
            if len(grads) != self._expected[task]:
                return
            del self._tasks[task], self._expected[task]
        self._fn([grads.get(i) for i in range(len(self._nodes))])

    def remove(self) -> None:
        """Removes the hooks from all tensors."""
        for handle in self._handles:
            handle.remove()


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Says that the memory of ``tensor`` was written by other means: backward will notice.

    Example::

        >>> x = ad.ones(2)
        >>> ad.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        _engine.bump_version(t)


class unsafe_preserve_version_counter:
    """Writes to ``tensors`` inside the block do not count: what was saved of them is not checked.

    Example::

        >>> x = ad.ones(2)
        >>> with ad.autograd._unsafe_preserve_version_counter(x):
        ...     _ = x.add_(1)
        >>> x._version
        0
    """

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        self.versions = [t._version for t in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for t, version in zip(self.tensors, self.versions):
            _engine.set_version(t, version)


class region_activation_memory_budget:
    """A budget in [0, 1] for what compiled regions save. Nothing is compiled here: entering it raises.

    Raises:
        RuntimeError: always on entry.
        ValueError: the budget is out of range.
    """

    def __init__(self, budget: float) -> None:
        if not 0 <= budget <= 1:
            raise ValueError(f"region_activation_memory_budget: budget must be in [0, 1], got {budget}")

    def __enter__(self) -> None:
        raise RuntimeError("region_activation_memory_budget only has an effect in compiled regions, and adjoint compiles none")

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        pass


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Kept for code that sets it: gradients are accumulated on the stream of their leaf, so streams never mismatch."""


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Says where, while a CUDA graph is captured, backward runs nodes whose forward part ran on a stream outside the capture.

    Arguments:
        enabled: True: on the stream that captures. False, as at the start: on their own stream, which joins the capture; that the
            default stream cannot is a `RuntimeError`. The setting holds for all threads.
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"set_override_stale_capture_stream: expected a bool, got {enabled!r}")
    _engine.set_override_stale_capture_stream(enabled)
