"""Custom Functions: forward and backward written by the user."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from adjoint_core import Tensor

from . import _engine
from ._context import BackwardCFunction, FunctionCtx
from ._modes import no_grad

_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
    "setup_context staticmethod. For more details, please see docs on extending."
)


class VmapInfo(NamedTuple):
    """What a Function's ``vmap`` gets first."""

    batch_size: int
    randomness: str


class FunctionMeta(type):
    """Gives each Function the class of its graph node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": cls.__module__})
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """A differentiable operation of your own.

    Write ``forward(ctx, *args)``, or ``forward(*args)`` with ``setup_context(ctx, inputs, output)``; then ``backward(ctx,
    *grad_outputs)`` returning one gradient (or None) per argument; for forward mode ``jvp(ctx, *tangents)``; for vmap
    ``vmap(info, in_dims, *args)`` or ``generate_vmap_rule = True``. Call it by ``apply``.

    Example::

        >>> class Square(ad.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         x, = ctx.saved_tensors
        ...         return 2 * x * grad
        >>> x = ad.tensor(3., requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor(6.)
    """

    generate_vmap_rule = False
    _backward_cls: type[BackwardCFunction]

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value of the operation."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """What to save, when ``forward`` does not take ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments, for those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for ``backward``."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs, for those of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The operation on a batch: returns outputs and their batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs ``forward`` and records the operation.

        Raises:
            RuntimeError: forward, backward or their outputs break the rules of the protocol.
        """
        for a in args:
            if isinstance(a, Tensor) and _engine.is_lifted(a):
                return _apply_lifted(cls, args, kwargs)[0]
        return _apply_plain(cls, args, kwargs)[0]


def _has_setup(cls: type[Function]) -> bool:
    return cls.setup_context is not Function.setup_context


def _new_context(cls: type[Function], args: tuple[Any, ...]) -> BackwardCFunction:
    ctx = cls._backward_cls()
    ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
    ctx._input_meta = tuple((a.shape, a.dtype) if isinstance(a, Tensor) else None for a in args)
    return ctx


def _apply_plain(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, BackwardCFunction]:
    ctx = _new_context(cls, args)
    records = _engine.grad_enabled() and any(ctx.needs_input_grad)
    if records:
        _engine.connect_inputs(ctx, list(args))
    window = _engine.window()
    _engine.set_grad_enabled(False)
    try:
        if _has_setup(cls):
            result = cls.forward(*args, **kwargs)
            cls.setup_context(ctx, args, result)
        else:
            result = cls.forward(ctx, *args, **kwargs)
    finally:
        _engine.set_window(*window)
    return _attach(ctx, args, result, records), ctx


def _attach(ctx: BackwardCFunction, args: tuple[Any, ...], result: Any, records: bool) -> Any:
    """Gives the outputs their history; fresh tensor objects where an input or a foreign view came back."""
    single = not isinstance(result, tuple)
    outputs = [result] if single else list(result)
    inputs = {id(a) for a in args if isinstance(a, Tensor)}
    dirty = {id(t) for t in ctx.dirty_tensors}
    constant = {id(t) for t in ctx.non_differentiable}
    for t in ctx.dirty_tensors:
        if not any(t is y for y in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function."
            )
    saved = {id(t): k for k, t in enumerate(ctx.to_save) if t is not None}
    for k, y in enumerate(outputs):
        if not isinstance(y, Tensor):
            if y is not None and single:
                raise TypeError(
                    f"{ctx.name()}.forward: expected to return None, a Tensor or a tuple of them, got {type(y).__name__}"
                )
            continue
        if id(y) in dirty:
            if records and y.is_leaf and y.requires_grad:
                raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
            _engine.bump_version(y)
        elif id(y) in inputs:
            outputs[k] = y.view_as(y) if not records else y.detach()
            if id(y) in saved:
                ctx.to_save = tuple(outputs[k] if t is y else t for t in ctx.to_save)
        if records and id(y) not in constant and (y.is_floating_point() or y.is_complex()):
            _engine.connect_output(ctx, outputs[k], k)
    ctx._output_meta = tuple((y.shape, y.dtype) if isinstance(y, Tensor) else None for y in outputs)
    if records:
        ctx._finish(tuple(outputs))
    return outputs[0] if single else tuple(outputs)


def _apply_lifted(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, BackwardCFunction]:
    """One level down for the innermost level among the arguments, then up again."""
    lifted = [a for a in args if isinstance(a, Tensor) and _engine.is_lifted(a)]
    if not lifted:
        return _apply_plain(cls, args, kwargs)
    slot = _engine.innermost_slot(lifted)
    kind, strict, size = _engine.slot_info(slot)
    if strict and not _has_setup(cls):
        raise RuntimeError(_SETUP)
    values = tuple(_engine.value_at(a, slot) if isinstance(a, Tensor) else a for a in args)
    if kind == "batch":
        return _apply_batched(cls, args, values, kwargs, slot, size)
    result, below = _apply_lifted(cls, values, kwargs)
    single = not isinstance(result, tuple)
    outputs = (result,) if single else result
    if kind == "tape":
        raised = tuple(_engine.lift(y, slot) if isinstance(y, Tensor) else y for y in outputs)
    else:
        raised = _with_tangents(cls, args, values, outputs, single, below, slot)
    return _record_face(cls, args, raised, single, below, values + outputs)


def _with_tangents(
    cls: type[Function],
    args: tuple[Any, ...],
    values: tuple[Any, ...],
    outputs: tuple[Any, ...],
    single: bool,
    below: BackwardCFunction,
    slot: int,
) -> tuple[Any, ...]:
    ctx = below
    if _has_setup(cls):
        ctx = _new_context(cls, values)
        cls.setup_context(ctx, values, outputs[0] if single else outputs)
    tangents = [_engine.tangent_at(a, slot) if isinstance(a, Tensor) else None for a in args]
    if ctx.materialize_grads:
        tangents = [
            v.new_zeros(v.shape) if t is None and isinstance(v, Tensor) and (v.is_floating_point() or v.is_complex()) else t
            for t, v in zip(tangents, values, strict=True)
        ]
    found = cls.jvp(ctx, *tangents)
    pushed = found if isinstance(found, tuple) else (found,)
    if len(pushed) != len(outputs):
        raise RuntimeError(
            f"{cls.__name__}.jvp returned an incorrect number of tangents: expected {len(outputs)}, got {len(pushed)}"
        )
    return tuple(
        _engine.lift_dual(y, t, slot) if t is not None and isinstance(y, Tensor) else y
        for y, t in zip(outputs, pushed, strict=True)
    )


def _record_face(
    cls: type[Function],
    args: tuple[Any, ...],
    outputs: tuple[Any, ...],
    single: bool,
    below: BackwardCFunction,
    old: tuple[Any, ...],
) -> tuple[Any, BackwardCFunction]:
    """A node on this face, with this face's tensors saved."""
    ctx = _new_context(cls, args)
    result = outputs[0] if single else outputs
    if not (_engine.records_at(list(outputs)) and any(ctx.needs_input_grad)):
        return result, below
    _engine.connect_inputs(ctx, list(args))
    if _has_setup(cls):
        with no_grad():
            cls.setup_context(ctx, args, result)
    else:
        new = {id(a): b for a, b in zip(old, (*args, *outputs), strict=True)}
        ctx.__dict__.update({k: v for k, v in below.__dict__.items() if k not in ("_saved", "needs_input_grad", "_input_meta")})
        ctx.to_save = tuple(new.get(id(t), t) for t in below.to_save or below.saved_tensors)
    return _attach(ctx, args, result, True), ctx


def _apply_batched(
    cls: type[Function], args: tuple[Any, ...], values: tuple[Any, ...], kwargs: dict[str, Any], slot: int, size: int
) -> tuple[Any, BackwardCFunction]:
    ctx = _new_context(cls, args)
    if cls.vmap is not Function.vmap:
        if cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the overriden vmap staticmethod to avoid ambiguity."
            )
        dims = tuple(
            _engine.batch_dim(a, slot) if isinstance(a, Tensor) and _engine.is_batched(a, slot) else None for a in args
        )
        found, out_dims = cls.vmap(VmapInfo(size, "error"), dims, *values, **kwargs)
        single = not isinstance(found, tuple)
        outputs = (found,) if single else found
        where = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(outputs)
        raised = tuple(
            y if d is None or not isinstance(y, Tensor) else _engine.lift_batch(y, slot, d)
            for y, d in zip(outputs, where, strict=True)
        )
        return (raised[0] if single else raised), ctx
    if not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    from ._vmap import generated_rule

    dims = tuple(_engine.batch_dim(a, slot) if isinstance(a, Tensor) and _engine.is_batched(a, slot) else None for a in args)
    outputs, single = generated_rule(cls, dims, size).run(values, kwargs)
    raised = tuple(_engine.lift_batch(y, slot, 0) if isinstance(y, Tensor) else y for y in outputs)
    return (raised[0] if single else raised), ctx


def once_differentiable(fn: Any) -> Any:
    """For a ``backward`` that cannot be differentiated: a second derivative through it raises instead of being wrong."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not _engine.grad_enabled() or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        single = not isinstance(outputs, tuple)
        blocked = _NotTwice.apply(len(args), *args, *((outputs,) if single else outputs))
        return blocked[0] if single else blocked

    return wrapper


class _NotTwice(Function):
    """Hands on its last arguments, connected to the first ones by a backward that raises."""

    @staticmethod
    def forward(ctx: Any, n: int, *args: Any) -> Any:
        return tuple(a.detach() if isinstance(a, Tensor) else a for a in args[n:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


class InplaceFunction(Function):
    """A Function with an ``inplace`` flag; kept for old code."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
