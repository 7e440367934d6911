"""Custom Functions under levels: one level down for the innermost one, then up again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor

from .. import _engine, trees
from .._modes.switches import no_grad
from .apply import apply_plain
from .context import BackwardCFunction
from .protocol import Protocol, VmapInfo

_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
    "setup_context staticmethod. For more details, please see docs on extending."
)


def apply_lifted(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, BackwardCFunction]:
    """One level down for the innermost level among the arguments, then up again."""
    lifted = [a for a in args if isinstance(a, Tensor) and _engine.on_level(a)]
    if not lifted:
        return apply_plain(cls, args, kwargs)
    slot = _engine.innermost_slot(lifted)
    kind, strict, size, randomness = _engine.slot_info(slot)
    if strict and not cls._has_setup:
        raise RuntimeError(_SETUP)
    if kind == "batch" and not strict and cls.vmap is Protocol.vmap and not cls.generate_vmap_rule:
        return apply_plain(cls, args, kwargs)
    values = tuple(_engine.value_at(a, slot) if isinstance(a, Tensor) else a for a in args)
    if kind == "batch":
        return _apply_batched(cls, args, values, kwargs, slot, VmapInfo(size, randomness))
    result, below = apply_lifted(cls, values, kwargs)
    single = not isinstance(result, tuple)
    outputs = (result,) if single else result
    if kind == "tape":
        written = _among(outputs, args, values)
        raised = tuple(
            y if not isinstance(y, Tensor) else written[id(y)] if id(y) in written else _engine.lift(y, slot) for y in outputs
        )
    else:
        raised = _with_tangents(cls, args, values, outputs, single, below, slot)
    return _record_face(cls, args, raised, single, below, values + outputs)


_NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input inplace, "
    "then the jvp function must modify the corresponding gradient inplace."
)


def _among(tensors: tuple[Any, ...], args: tuple[Any, ...], values: tuple[Any, ...]) -> dict[int, Tensor]:
    """The arguments whose values one level down are among ``tensors``, by these."""
    return {id(v): a for a, v in zip(args, values, strict=True) if isinstance(v, Tensor) and any(v is t for t in tensors)}


def _differentiable(y: Any, ctx: BackwardCFunction) -> bool:
    return (
        isinstance(y, Tensor) and (y.is_floating_point() or y.is_complex()) and all(y is not c for c in ctx.non_differentiable)
    )


def _with_tangents(
    cls: Any,
    args: tuple[Any, ...],
    values: tuple[Any, ...],
    outputs: tuple[Any, ...],
    single: bool,
    below: BackwardCFunction,
    slot: int,
) -> tuple[Any, ...]:
    ctx = below
    if cls._has_setup:
        ctx = cls._backward_cls()
        _engine.open_context(ctx, values, False)
        cls.setup_context(ctx, values, outputs[0] if single else outputs)
    tangents = [_engine.tangent_at(a, slot) if isinstance(a, Tensor) else None for a in args]
    if ctx.materialize_grads:
        tangents = [
            v.new_zeros(v.shape) if t is None and isinstance(v, Tensor) and (v.is_floating_point() or v.is_complex()) else t
            for t, v in zip(tangents, values, strict=True)
        ]
    written = _among(ctx.dirty_tensors, args, values)
    before = {id(v): (t, _version(t)) for v, t in zip(values, tangents, strict=True) if id(v) in written}
    found = cls.jvp(ctx, *tangents)
    pushed = found if isinstance(found, tuple) else (found,)
    if len(pushed) != len(outputs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got {len(pushed)}), in {cls.__name__}"
        )
    for k, (y, t) in enumerate(zip(outputs, pushed, strict=True)):
        if t is not None and not _differentiable(y, ctx):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {k}, but the corresponding forward output is not a differentiable "
                f"Tensor. You should return None at that position instead, in {cls.__name__}."
            )
        if isinstance(t, Tensor) and isinstance(y, Tensor) and t.shape != y.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
                f"Tensor is of size {list(y.shape)} while the given forward gradient is of size {list(t.shape)}, in {cls.__name__}.jvp."
            )
    for y, t in zip(outputs, pushed, strict=True):
        if t is not None and id(y) in before and (t is not before[id(y)][0] or _version(t) == before[id(y)][1] is not None):
            raise RuntimeError(_NOT_IN_PLACE)
    return tuple(
        y if t is None else _in_place(written[id(y)], y, t, slot) if id(y) in written else _engine.lift_dual(y, t, slot)
        for y, t in zip(outputs, pushed, strict=True)
    )


def _version(t: Tensor | None) -> int | None:
    return None if t is None or _engine.is_lifted(t) or _engine.is_inference(t) else t._version


def _in_place(arg: Tensor, value: Tensor, tangent: Tensor, slot: int) -> Tensor:
    """The argument itself, of which forward has written the value and jvp the tangent."""
    if _engine.tangent_at(arg, slot) is not tangent:  # it had none: it joins the level
        with no_grad():
            arg.copy_(_engine.lift_dual(value, tangent, slot))
    return arg


def _record_face(
    cls: Any,
    args: tuple[Any, ...],
    outputs: tuple[Any, ...],
    single: bool,
    below: BackwardCFunction,
    old: tuple[Any, ...],
) -> tuple[Any, BackwardCFunction]:
    """A node on this face, with this face's tensors saved; also where nothing is recorded, for the face above."""
    ctx = cls._backward_cls()
    result = outputs[0] if single else outputs
    records = _engine.open_context(ctx, args, _engine.records_at(list(outputs)))
    if cls._has_setup and records:
        with no_grad():
            cls.setup_context(ctx, args, result)
    else:
        new = {id(a): b for a, b in zip(old, (*args, *outputs), strict=True)}
        ctx.__dict__.update(below.__dict__)
        ctx.to_save = tuple(new.get(id(t), t) for t in below.to_save or below.saved_tensors)
        ctx.dirty_tensors = tuple(new.get(id(t), t) for t in below.dirty_tensors)
        ctx.non_differentiable = tuple(new.get(id(t), t) for t in below.non_differentiable)
    if not records:
        return result, ctx
    with no_grad():
        return _engine.close_context(ctx, args, result, True), ctx


def _apply_batched(
    cls: Any, args: tuple[Any, ...], values: tuple[Any, ...], kwargs: dict[str, Any], slot: int, info: VmapInfo
) -> tuple[Any, BackwardCFunction]:
    _engine.set_randomness(slot, "same")  # a rule sees all lanes, and says itself what it draws
    try:
        return _batch_rule(cls, args, values, kwargs, slot, info)
    finally:
        _engine.set_randomness(slot, info.randomness)


def _batch_dim(x: Any, slot: int) -> int | None:
    return _engine.batch_dim(x, slot) if isinstance(x, Tensor) and _engine.is_batched(x, slot) else None


def _each_leaf(tree: Any, f: Callable[[Any], Any]) -> Any:
    return trees.tree_map(f, tree) if isinstance(tree, (list, tuple, dict)) else f(tree)


def _lifted_outputs(cls: Any, found: Any, out_dims: Any, given: dict[int, Tensor], slot: int) -> Any:
    """What a vmap rule returned, with its batch dimensions hidden; ``given``: the arguments by what the rule saw of them."""
    leaves, spec = trees.tree_flatten(found)
    dims = trees.broadcast_prefix(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            f"{cls.__name__}.vmap returned an incompatible (output, out_dims) tuple. Expected out_dims={out_dims} to be compatible "
            "with the structure of `output`."
        )
    lifted = [
        given[id(y)]  # written in place
        if id(y) in given and _batch_dim(given[id(y)], slot) == d
        else y
        if d is None or not isinstance(y, Tensor)
        else _engine.lift_batch(y, slot, d)
        for y, d in zip(leaves, dims, strict=True)
    ]
    return trees.tree_unflatten(lifted, spec)


def _batch_rule(
    cls: Any, args: tuple[Any, ...], values: tuple[Any, ...], kwargs: dict[str, Any], slot: int, info: VmapInfo
) -> tuple[Any, BackwardCFunction]:
    ctx = cls._backward_cls()
    _engine.open_context(ctx, args, False)
    if cls.vmap is not Protocol.vmap:
        if cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the overriden vmap staticmethod to avoid ambiguity."
            )
        dims = tuple(_each_leaf(a, lambda x: _batch_dim(x, slot)) for a in args)
        values = tuple(_each_leaf(a, lambda x: _engine.value_at(x, slot) if isinstance(x, Tensor) else x) for a in args)
        returned = cls.vmap(info, dims, *values, **kwargs)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise RuntimeError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with "
                f"the output. Got a {type(returned).__name__}, in {cls.__name__}.vmap."
            )
        return _lifted_outputs(cls, *returned, _among(values, args, values), slot), ctx
    if not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    dims = tuple(_batch_dim(a, slot) for a in args)
    outputs, single = cls._generated_rule(dims, info).run(values, kwargs)
    raised = tuple(_engine.lift_batch(y, slot, 0) if isinstance(y, Tensor) else y for y in outputs)
    return (raised[0] if single else raised), ctx
