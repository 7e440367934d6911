"""Choices, loops and scans as functions: what PyTorch gives to its compiler. Here they run as they are, and derivatives pass through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine.trees import tree_flatten, tree_unflatten

__all__ = ["associative_scan", "cond", "scan", "while_loop"]


def cond(pred: bool | Tensor, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """``true_fn(*operands)`` if ``pred``, else ``false_fn(*operands)``.

    Example::

        >>> cond(core.tensor(True), lambda x: x + 1, lambda x: x - 1, (core.ones(1),))
        tensor([2.])
    """
    return true_fn(*operands) if pred else false_fn(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Calls ``body_fn`` on its own results as long as ``cond_fn`` of them is true.

    Example::

        >>> while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (core.tensor(0), core.ones(1)))
        (tensor(3), tensor([8.]))
    """
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        carried = tuple(body_fn(*carried))
    return carried


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """Goes along a dimension: ``carry, y = combine_fn(carry, x)``; the last carry, and the ys one behind another along dimension 0.

    Example::

        >>> scan(lambda total, x: (total + x, total * x), core.tensor(0.0), core.arange(4.0))
        (tensor(6.), tensor([0., 0., 2., 9.]))
    """
    leaves, spec = tree_flatten(xs)
    order = range(leaves[0].size(dim))
    carry, rows, found = init, [], None
    for i in reversed(order) if reverse else order:
        carry, y = combine_fn(carry, tree_unflatten([x.select(dim, i) for x in leaves], spec))
        row, found = tree_flatten(y)
        rows.append(row)
    if reverse:
        rows.reverse()
    return carry, tree_unflatten([core.stack(ys) for ys in zip(*rows, strict=True)], found)  # type: ignore[arg-type]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """What ``combine_fn``, which must be associative, makes of the elements up to each along a dimension; of whole tensors at a time.

    Pairs of neighbours are combined, and scanned in the same way: as many calls as twice the logarithm of the size (G. E. Blelloch,
    Prefix sums and their applications, 1990).

    Example::

        >>> associative_scan(lambda x, y: x * y, core.arange(1.0, 5.0), 0)
        tensor([ 1.,  2.,  6., 24.])
    """
    leaves, spec = tree_flatten(xs)
    if not leaves or any(x.size(dim) != leaves[0].size(dim) for x in leaves):
        raise RuntimeError(
            f"associative_scan: all tensors must have the same size along dim {dim}, got {[tuple(x.shape) for x in leaves]}"
        )

    def combine(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
        return tree_flatten(combine_fn(tree_unflatten(a, spec), tree_unflatten(b, spec)))[0]

    def part(x: list[Tensor], start: int, stop: int, step: int) -> list[Tensor]:
        return [y.index_select(dim, core.arange(start, stop, step, device=y.device)) for y in x]

    def scanned(x: list[Tensor]) -> list[Tensor]:
        n = x[0].size(dim)
        if n < 2:
            return x
        odd = scanned(combine(part(x, 0, n - 1, 2), part(x, 1, n, 2)))
        rest = combine(part(odd, 0, (n - 1) // 2, 1), part(x, 2, n, 2)) if n > 2 else []
        even = (
            [core.cat([first, r], dim) for first, r in zip(part(x, 0, 1, 1), rest, strict=True)] if rest else part(x, 0, 1, 1)
        )
        order = core.arange(n)  # of the elements at even places, then those at odd ones
        place = core.where(order % 2 == 0, order // 2, (n + 1) // 2 + order // 2)
        return [core.cat([e, o], dim).index_select(dim, place.to(e.device)) for e, o in zip(even, odd, strict=True)]

    ready = [x.flip(dim) for x in leaves] if reverse else leaves
    result = scanned(ready)
    return tree_unflatten([x.flip(dim) for x in result] if reverse else result, spec)
