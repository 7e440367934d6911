"""One call of a custom Function: its forward, and the history of what came out."""

from __future__ import annotations

import inspect
from typing import Any

from adjoint_core import Tensor

from . import _engine
from ._context import BackwardCFunction
from ._protocol import has_setup

_DIRTY = (
    "Some elements marked as dirty during the forward method were not returned as output. "
    "The inputs that are modified inplace must all be outputs of the Function."
)


def bound(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in the order of ``forward``, defaults filled in: gradients belong to positions."""
    context = () if has_setup(cls) else (None,)
    found = inspect.signature(cls.forward).bind(*context, *args, **kwargs)
    found.apply_defaults()
    return found.args[len(context) :], found.kwargs


def new_context(cls: Any, args: tuple[Any, ...]) -> BackwardCFunction:
    """The context of a call with ``args``."""
    ctx = cls._backward_cls()
    ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
    ctx._input_meta = tuple((a.shape, a.dtype) if isinstance(a, Tensor) else None for a in args)
    return ctx


def apply_plain(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, BackwardCFunction]:
    """The call where no argument stands on a level."""
    ctx = new_context(cls, args)
    records = _engine.grad_enabled() and any(ctx.needs_input_grad)
    if records:
        _engine.connect_inputs(ctx, list(args))
    window = _engine.window()
    _engine.set_grad_enabled(False)
    try:
        if has_setup(cls):
            result = cls.forward(*args, **kwargs)
            cls.setup_context(ctx, args, result)
        else:
            result = cls.forward(ctx, *args, **kwargs)
        return attach(ctx, args, result, records), ctx
    finally:
        _engine.set_window(*window)


def attach(ctx: BackwardCFunction, args: tuple[Any, ...], result: Any, records: bool) -> Any:
    """Gives the outputs their history; a view of its own where an input came back. Runs without recording."""
    single = not isinstance(result, tuple)
    outputs = [result] if single else list(result)
    inputs = {id(a) for a in args if isinstance(a, Tensor)}
    dirty = {id(t) for t in ctx.dirty_tensors}
    constant = {id(t) for t in ctx.non_differentiable}
    if not dirty <= {id(y) for y in outputs}:
        raise RuntimeError(_DIRTY)
    if records:
        _engine.set_output_count(ctx, len(outputs))
    for k, y in enumerate(outputs):
        if not isinstance(y, Tensor):
            continue
        connects = records and id(y) not in constant and (y.is_floating_point() or y.is_complex())
        if id(y) in dirty:
            if connects:
                _engine.connect_written(ctx, y, k)
            else:
                _engine.bump_version(y)
            continue
        if id(y) in inputs:
            outputs[k] = y.view_as(y)
        if connects:
            _engine.connect_output(ctx, outputs[k], k)
            _engine.mark_custom_view(outputs[k])
    ctx._output_meta = tuple((y.shape, y.dtype, y.device) if isinstance(y, Tensor) else None for y in outputs)
    if records:
        ctx._finish(tuple(outputs))
    return outputs[0] if single else tuple(outputs)
