"""The context of a custom Function: what forward leaves for backward."""

from __future__ import annotations

import warnings
from typing import Any

from adjoint_core import Tensor

from .. import _engine
from .._engine import Node


class FunctionCtx:
    """What ``forward``, ``setup_context``, ``backward`` and ``jvp`` of a Function get as ``ctx``."""

    materialize_grads = True
    _materialize_non_diff_grads = True
    to_save: tuple[Tensor | None, ...] = ()
    saved_for_forward: tuple[Tensor | None, ...] = ()
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Saves inputs, outputs or intermediates; None is allowed. Read them back from ``saved_tensors``.

        What is no tensor is a TypeError after ``forward``, if there will be a backward.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Saves tensors for ``jvp``."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_forward can only save variables, but argument {i} is of type {type(t).__name__}")
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


class BackwardCFunction(FunctionCtx, Node):
    """The node of a custom Function in the graph; it is the ``ctx`` too. What it saved lies in the C++ node."""

    _forward_cls: Any

    needs_input_grad = property(
        _engine.needs_input_grad, _engine.set_needs_input_grad, None, "Which arguments need a gradient; in backward: want one."
    )
    saved_tensors = property(_engine.saved_tensors, None, None, "What ``save_for_backward`` saved, its versions checked.")

    @property
    def saved_variables(self) -> Any:
        """Before 0.4 ``saved_tensors`` had this name."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    _raw_saved_tensors = property(_engine.raw_saved_tensors)

    def apply(self, *args: Any) -> Any:
        """Calls the Function's ``backward`` (or ``vjp``); with ``boxed_grads_call``, all gradients in one list."""
        if self._forward_cls.boxed_grads_call:
            return self.apply_boxed(list(args))
        return self._forward_cls._rule(self, *args)

    def apply_boxed(self, grads: list[Any]) -> Any:
        """Calls the Function's ``backward`` with a list, which it may empty as it goes."""
        return self._forward_cls._rule(self, grads)

    def apply_jvp(self, *args: Any) -> Any:
        """Calls the Function's ``jvp``."""
        return self._forward_cls.jvp(self, *args)
