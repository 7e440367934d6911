"""Hooks on what nodes save: packing, saving in host memory, surviving in-place writes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adjoint_core import Tensor, _core

from .. import _engine
from .._modes.thread_locals import Local


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

    def __exit__(self, *error: object) -> None:
        _engine.pop_saved_hooks()


def _on_host(t: Tensor, pin_memory: bool) -> Tensor:
    if t.device.type == "cpu":
        return t.clone()
    return _core._cuda.offload(t) if pin_memory else t.cpu()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait in host memory, and come back to their device for backward.

    Arguments:
        pin_memory: use pinned memory, so that neither way waits for the GPU.
        device_type: has no effect.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> with ad.autograd.graph.save_on_cpu():
        ...     y = (x * x).sum()
        >>> y.backward()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda t: (t.device, _on_host(t, pin_memory)), lambda saved: saved[1].to(saved[0], non_blocking=pin_memory)
        )


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside the block, asking for hooks on saved tensors raises ``RuntimeError(error_message)``.

    Example::

        >>> with ad.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     ad.autograd.graph.save_on_cpu().__enter__()
        Traceback (most recent call last):
        RuntimeError: not here
    """
    before = _engine.set_saved_hooks_disabled(error_message)
    try:
        yield
    finally:
        _engine.set_saved_hooks_disabled(before)


_thread = Local()


class _Handle:
    """Stands for what one tensor held at one time; the nodes that saved it keep the handle."""

    __slots__ = ("__weakref__", "tid")

    def __init__(self, tid: tuple[int, int, int]) -> None:
        self.tid = tid


class _Kept:
    """The saved tensors of one ``allow_mutation_on_saved_tensors`` block.

    ``cloned`` has the copies that were made, ``tid_to_weakhandle`` the handles of the tensors that were not written since.
    """

    def __init__(self) -> None:
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[int, int, int], _Handle] = weakref.WeakValueDictionary()
        self.cloned: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self._originals: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self._in_memory: dict[int, weakref.WeakSet[_Handle]] = {}

    def clear(self) -> None:
        """Forgets all: backward through graphs that were recorded inside the block is no longer possible."""
        for kept in (self.tid_to_weakhandle, self.cloned, self._originals, self._in_memory):
            kept.clear()

    def pack(self, tensor: Tensor) -> _Handle:
        memory = _engine.memory_id(tensor)
        tid = id(tensor), memory, 0 if _engine.is_lifted(tensor) or _engine.is_inference(tensor) else tensor._version
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle(tid)
            self._originals[handle] = tensor
            self._in_memory.setdefault(memory, weakref.WeakSet()).add(handle)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        found = self.cloned.get(handle, self._originals.get(handle))
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally recorded."
            )
        return found

    def before_write(self, tensor: Tensor) -> None:
        for handle in self._in_memory.pop(_engine.memory_id(tensor), ()):
            self.tid_to_weakhandle.pop(handle.tid, None)
            copy = self.cloned[handle] = self.unpack(handle).clone()
            self._originals.pop(handle, None)
            self._in_memory.setdefault(_engine.memory_id(copy), weakref.WeakSet()).add(handle)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Kept]:
    """Tensors saved inside the block may be written in place: they are copied just before. Backward must run inside it.

    Raises:
        RuntimeError: the block is entered inside another one.

    Example::

        >>> with ad.autograd.graph.allow_mutation_on_saved_tensors():
        ...     a = ad.ones(2, requires_grad=True)
        ...     b = a.clone()
        ...     out = (b ** 2).sum()
        ...     _ = b.sin_()
        ...     out.backward()
        >>> a.grad
        tensor([2., 2.])
    """
    if getattr(_thread, "inside", False):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    kept = _Kept()
    listener = kept.before_write  # the engine borrows it
    _thread.inside = True
    with saved_tensors_hooks(kept.pack, kept.unpack):
        _engine.set_write_listener(listener)
        try:
            yield kept
        finally:
            _engine.set_write_listener(None)
            _thread.inside = False
            kept.clear()
