"""The context of a custom Function: what forward leaves for backward."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, zeros

from . import _engine
from ._engine import Node
from ._protocol import Protocol

_FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True "
    "if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
)


class FunctionCtx:
    """What ``forward``, ``setup_context``, ``backward`` and ``jvp`` of a Function get as ``ctx``."""

    materialize_grads = True
    needs_input_grad: tuple[bool, ...] = ()
    to_save: tuple[Tensor | None, ...] = ()
    saved_for_forward: tuple[Tensor | None, ...] = ()
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    _saved: tuple[Any, ...] | None = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Saves inputs, outputs or intermediates; None is allowed. Read them back from ``saved_tensors``."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(t).__name__}")
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Saves tensors for ``jvp``."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_forward can only save variables, but argument is of type {type(t).__name__}")
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Says which inputs ``forward`` wrote to in place; they must be among its outputs."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Says which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether absent gradients reach ``backward`` as zeros (the default) or as None."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Kept for old code: sharing is found without it."""

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What ``save_for_backward`` saved.

        Raises:
            RuntimeError: one of them was modified in place since, or the graph was freed.
        """
        if self._saved is None:
            raise RuntimeError(_FREED)
        if not self._saved:
            return self.to_save or self.saved_for_forward
        found = tuple(None if s is None else s.unpack(self) for s in self._saved)
        if self._forward_cls.clear_saved_tensors_on_access:
            self._release_saved()
        return found

    saved_variables = saved_tensors


class BackwardCFunction(FunctionCtx, Node):
    """The node of a custom Function in the graph; it is the ``ctx`` too."""

    _forward_cls: Any
    _input_meta: tuple[Any, ...] = ()
    _output_meta: tuple[Any, ...] = ()

    def apply(self, *args: Any) -> Any:
        """Calls the Function's ``backward`` (or ``vjp``); with ``boxed_grads_call``, all gradients in one list."""
        if self._forward_cls.boxed_grads_call:
            return self.apply_boxed(list(args))
        return self._backward_function()(self, *args)

    def apply_boxed(self, grads: list[Any]) -> Any:
        """Calls the Function's ``backward`` with a list, which it may empty as it goes."""
        return self._backward_function()(self, grads)

    def apply_jvp(self, *args: Any) -> Any:
        """Calls the Function's ``jvp``."""
        return self._forward_cls.jvp(self, *args)

    def _backward_function(self) -> Any:
        cls = self._forward_cls
        own_backward = cls.backward is not Protocol.backward
        own_vjp = cls.vjp is not Protocol.vjp
        if own_backward and own_vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
            )
        return cls.vjp if own_vjp else cls.backward

    def _finish(self, outputs: tuple[Any, ...]) -> None:
        """Turns what was to be saved into saved tensors, now that outputs are known."""
        numbers = {id(y): k for k, y in enumerate(outputs) if isinstance(y, Tensor)}
        self._saved = tuple(None if t is None else _engine.SavedTensor(t, numbers.get(id(t), -1)) for t in self.to_save)
        self.to_save = ()

    def _run_backward(self, cotangents: list[Tensor | None]) -> list[Tensor | None]:
        if self.materialize_grads:
            cotangents = [
                zeros(m[0], dtype=m[1], device=m[2]) if g is None and m is not None else g
                for g, m in zip(cotangents, self._output_meta, strict=False)
            ]
        found = self.apply(*cotangents)
        grads = list(found) if isinstance(found, (tuple, list)) else [found]
        return self._checked(grads)

    def _checked(self, grads: list[Any]) -> list[Tensor | None]:
        name, expected = self.name(), len(self._input_meta)
        while len(grads) > expected and grads[-1] is None:
            grads.pop()
        if len(grads) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(grads)})"
            )
        return [self._fitted(i, g, m) for i, (g, m) in enumerate(zip(grads, self._input_meta, strict=True))]

    def _fitted(self, i: int, g: Any, meta: Any) -> Tensor | None:
        if g is None:
            return None
        if not isinstance(g, Tensor):
            raise TypeError(
                f"function {self.name()} returned a gradient of type {type(g).__name__} for input {i}: expected a Tensor or None"
            )
        if meta is None:
            raise RuntimeError(
                f"function {self.name()} returned a gradient different than None at position {i + 1}, but the corresponding forward input was not a Variable"
            )
        shape, dtype = meta
        if g.shape != shape:
            if not _engine.sums_to(g.shape, shape):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got {list(g.shape)} but expected shape compatible with {list(shape)}"
                )
            g = _engine.unbroadcast(g, shape)
        return g if g.dtype == dtype else g.to(dtype)

    def _release_saved(self) -> None:
        for s in self._saved or ():
            if s is not None:
                s.release()
        self._saved = None

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        if self._saved is None:
            raise RuntimeError(_FREED)
        return self._saved
