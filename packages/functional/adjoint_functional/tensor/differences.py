"""Integrals and derivatives of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method, rounded_once
from adjoint_core._whole import is_whole

__all__ = ["cumulative_trapezoid", "gradient", "trapezoid", "trapz"]


def _areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """Twice the areas."""
    n = y.size(dim)
    both = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1) if n else y.narrow(dim, 0, 0)
    if x is None:
        return both * (1 if dx is None else dx)
    if dx is not None:
        raise RuntimeError("trapezoid() can't have both x and dx")
    if x.ndim == 1:
        return both * x.diff().reshape([-1] + [1] * ((-dim - 1) if dim < 0 else y.ndim - 1 - dim))
    return both * x.diff(dim=dim)


@rounded_once
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral along `dim` by the trapezoidal rule, at positions `x` or steps of `dx` (1).

    Example::

        >>> ad.trapezoid(ad.tensor([1.0, 2.0, 3.0]))
        tensor(4.)
    """
    if x is None and not isinstance(dx, Tensor) and y.size(dim):  # equal steps: all, less half of both ends
        ends = y.select(dim, 0) * 0.5 + y.select(dim, -1) * 0.5
        return (y.sum(dim) - ends) * (1 if dx is None else dx)
    return _areas(y, x, dx, dim).sum(dim) / 2


@rounded_once
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """Another name of `trapezoid`."""
    return trapezoid(y, x, dx=dx, dim=dim)


@rounded_once
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The running integral along `dim`, one element shorter than y.

    Example::

        >>> ad.cumulative_trapezoid(ad.tensor([0.0, 2.0, 4.0]))
        tensor([1., 4.])
    """
    return _areas(y, x, dx, dim).cumsum(dim) / 2


def _differences(y: Tensor, x: Tensor, edge_order: int) -> Tensor:
    """dy/dx along the last dimension: second order inside, of `edge_order` at the edges."""
    h = x.diff()
    left, right = h[:-1], h[1:]
    inside = (
        -right / (left * (left + right)) * y[..., :-2]
        + (right - left) / (left * right) * y[..., 1:-1]
        + left / (right * (left + right)) * y[..., 2:]
    )
    slopes = y.diff() / h
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        first = first - (slopes[..., 1:2] - first) * h[0] / (h[0] + h[1])
        last = last + (last - slopes[..., -2:-1]) * h[-1] / (h[-1] + h[-2])
    return _core.cat([first, inside, last], -1)


def _even_differences(y: Tensor, step: Any, dim: int, edge_order: int) -> Tensor:
    """The same along any dimension, where all positions are a step apart."""
    n = y.size(dim)
    first = y.narrow(dim, 1, 1) - y.narrow(dim, 0, 1)
    last = y.narrow(dim, n - 1, 1) - y.narrow(dim, n - 2, 1)
    if edge_order == 2:
        first = first * 1.5 - (y.narrow(dim, 2, 1) - y.narrow(dim, 1, 1)) / 2
        last = last * 1.5 - (y.narrow(dim, n - 2, 1) - y.narrow(dim, n - 3, 1)) / 2
    inside = (y.narrow(dim, 2, n - 2) - y.narrow(dim, 0, n - 2)) / (step * 2)
    return _core.cat([first / step, inside, last / step], dim)


@method
@rounded_once
def gradient(
    input: Tensor, *, spacing: Any = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Finite differences of samples along each of `dim` (all), as a tuple.

    Arguments:
        spacing: the step (1), one for each dimension, or tensors of positions.
        edge_order: 1 or 2, the accuracy at the edges.
    Example::

        >>> ad.gradient(ad.tensor([0.0, 1.0, 4.0, 9.0]))
        (tensor([1., 2., 4., 5.]),)
    """
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient only supports edge_order=1 and edge_order=2, got {edge_order}")
    dims = range(input.ndim) if dim is None else (dim,) if is_whole(dim) else dim
    for d in dims:
        if sum(d % max(input.ndim, 1) == e % max(input.ndim, 1) for e in dims) > 1:
            raise RuntimeError(f"gradient: dim {d} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        raise RuntimeError(
            f"gradient expected spacing to be one number or one for each of {len(dims)} dimensions, got {len(steps)}"
        )
    out = []
    for d, step in zip(dims, steps):
        n = input.size(d)
        if n < edge_order + 1:
            raise RuntimeError("gradient expected each dimension size to be at least edge_order+1")
        y = input if input.is_floating_point() or input.is_complex() else input.to(_core.get_default_dtype())
        if isinstance(step, Tensor) and step.ndim:
            out.append(_differences(y.movedim(d, -1), step, edge_order).movedim(-1, d))
        else:
            out.append(_even_differences(y, step, d, edge_order))
    return tuple(out)


check_all(globals())
