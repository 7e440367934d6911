"""What operations below derivatives do to data and to masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, registry
from adjoint_engine.operators import event_name
from adjoint_engine.trees import tree_flatten, tree_map

from .layouts import is_sparse, same, values_of, with_values

__all__ = ["run"]

_NOT_ONE_BY_ONE = {
    "all",
    "any",
    "argmax",
    "argmin",
    "copy",
    "lu_permutation",
    "nonzero",
    "rank_order",
    "ravel_index",
    "searchsorted",
    "where",
}
_ONE_BY_ONE = {"abs", "angle", "conj", "mul", "sgn"}
_PLACES = {
    "alias", "as_strided", "cat", "clone", "contiguous", "diagonal", "expand", "flip", "gather", "index", "index_add", "index_copy", "index_put",
    "index_select", "pad", "permute", "roll", "scatter", "scatter_add", "select", "slice", "transpose", "unfold", "view",
}  # fmt: skip


def _names(records: set[str]) -> set[str]:
    return {event_name(name, 0, 0, in_place=False) for name in records}


ELEMENTWISE = _names({n for n in registry.names() if registry.record(n).kind == "elementwise"} - _NOT_ONE_BY_ONE | _ONE_BY_ONE)
MOVING = _names(_PLACES)
Made = tuple[Any, Any]
Pair = Callable[[Any], tuple[Tensor, Tensor] | None]  # data and mask of a masked tensor, None of anything else


def _data(args: Any, pair: Pair) -> Any:
    return tree_map(lambda a: found[0] if (found := pair(a)) else a, args)


def _one_by_one(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    """On the data where all masks are the same; of sparse tensors on their values."""
    found = [p for a in tree_flatten(args)[0] if (p := pair(a))]
    mask = found[0][1]
    if not all(same(mask, other) for _, other in found[1:] if mask is not other):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    if not is_sparse(mask):
        data = func(*_data(args, pair), **kwargs)
        return data, mask.expand_as(data)
    values = (values_of(t) if isinstance(t, Tensor) and is_sparse(t) else t for t in _data(args, pair))
    return with_values(found[0][0], func(*values, **kwargs)), mask


def _moved(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    """Where elements go, what is there goes; what was no masked tensor, zeros to write to, has nothing."""

    def mask(a: Any) -> Any:
        if found := pair(a):
            return found[1]
        return core.zeros_like(a, dtype=core.bool) if isinstance(a, Tensor) and a.is_floating_point() else a

    return func(*_data(args, pair), **kwargs), func(*tree_map(mask, args), **kwargs)


def _where(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    there = [
        p[1] if (p := pair(a)) else core.ones_like(a, dtype=core.bool) if isinstance(a, Tensor) else True for a in args[1:]
    ]
    condition, known = pair(args[0]) or (args[0], True)
    return func(*_data(args, pair)), func(condition, *there) & known


def _sum(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    found = pair(args[0])
    assert found is not None
    data, mask = found
    return func(data.masked_fill(~mask, 0), *args[1:], **kwargs), func(mask.to(core.int64), *args[1:], **kwargs) != 0


def _softmax(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    found = pair(args[0])
    assert found is not None
    data, mask = found
    return func(data.masked_fill(~mask, -float("inf")), *args[1:], **kwargs), mask


def _softmax_vjp(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    """Of the gradient and the result; what is not there takes no part."""
    mask = next(p[1] for a in args[:2] if (p := pair(a)))
    return func(*(t.masked_fill(~mask, 0) for t in _data(args[:2], pair)), *args[2:], **kwargs), mask


def _kept(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made:
    found = pair(args[0])
    assert found is not None
    data, mask = found
    if is_sparse(data) and func._opname == "clone":
        return with_values(data, values_of(data).clone()), mask
    return func(data, *args[1:], **kwargs), mask


_APART = {"where": _where, "sum": _sum, "_softmax": _softmax, "softmax_vjp": _softmax_vjp, "_to_copy": _kept, "detach": _kept}


def _written(func: Any, args: Any, pair: Pair) -> None:
    """`copy_`, where both masks are the same; plain memory that a gradient is collected in gets zeros for what is not there."""
    to, source = pair(args[0]), pair(args[1])
    if to is None and source is not None:
        func(args[0], source[0].masked_fill(~source[1], 0))
    elif to is not None:
        if source is not None and not same(to[1], source[1]):
            raise ValueError("args[0] mask and args[1] mask must match but do not")
        func(to[0], args[1] if source is None else source[0])


def run(func: Any, args: Any, kwargs: Any, pair: Pair) -> Made | None:
    """Data and mask of the result (lists of them where there are more); None of what is written in place; NotImplemented as data of the rest."""
    name = func._opname
    if name == "copy_":
        _written(func, args, pair)
        return None
    in_place = name.endswith("_")
    name = name.removesuffix("_") if in_place else name
    if name in _APART and not in_place:
        return _APART[name](func, args, kwargs, pair)
    if name in ELEMENTWISE:
        made = _one_by_one(func, args, kwargs, pair)
        return None if in_place else made
    if name in MOVING and not in_place:
        return _moved(func, args, kwargs, pair)
    return NotImplemented, None
