"""The line search of L-BFGS as functions, in the form that libraries know from PyTorch's `optim.lbfgs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor

from ._lbfgs import _cubic, _Point
from ._lbfgs import _strong_wolfe as _search


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through two points with their losses f and slopes g is least, within bounds; a tensor if a slope is one."""
    low, high = bounds or (min(x1, x2), max(x1, x2))
    ends = [_Point(float(x), float(f), g, float(g)) for x, f, g in ((x1, f1, g1), (x2, f2, g2))]
    found = _cubic(ends[0], ends[1], float(low), float(high))
    return g1.new_tensor(found) if isinstance(g1, Tensor) else found


def _strong_wolfe(
    obj_func: Callable[[Any, float, Tensor], tuple[float, Tensor]],
    x: Any,
    t: float,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, float, int]:
    """The loss, the gradient and the length of a step from `x` along `d` that satisfies the strong Wolfe conditions, and how often
    `obj_func(x, t, d)` was called for it."""

    def evaluate(t: float) -> _Point:
        loss, gradient = obj_func(x, t, d)
        return _Point(t, float(loss), gradient.clone(), float(gradient.dot(d)))

    start = _Point(0.0, float(f), g, float(gtd))
    found, calls = _search(start, evaluate, float(t), float(d.abs().max()), tolerance_change, max_ls + 1, c1, c2)
    return found.loss, found.gradient, found.t, calls
