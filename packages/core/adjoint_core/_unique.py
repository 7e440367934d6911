"""One of each run of equal elements or slices: what `unique` along a dimension is made of."""

from __future__ import annotations

from typing import Any

from . import _core
from ._compose import check_all, method
from ._core import Tensor

__all__ = ["unique_consecutive"]


@method
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """One of each run of equal elements, or of equal slices along `dim`.

    Example::

        >>> ad.unique_consecutive(ad.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    x, along = (input.reshape(-1), 0) if dim is None else (input, dim)
    rows = x.detach().movedim(along, 0)
    changes = rows[1:] != rows[:-1]
    if rows.ndim > 1:
        changes = changes.flatten(1).any(1)
    starts = _core.cat([_core.ones(min(1, rows.size(0)), dtype=_core.bool, device=rows.device), changes])
    if dim is None and not return_inverse and not return_counts:
        return x.masked_select(starts)
    at = starts.nonzero().reshape(-1)
    values = x.index_select(along, at)
    out = [values]
    if return_inverse:
        inverse = starts.cumsum(0) - 1
        out.append(inverse.reshape(input.shape) if dim is None else inverse)
    if return_counts:
        out.append(_core.cat([at, _core.tensor([rows.size(0)], device=rows.device)]).diff())
    return tuple(out) if len(out) > 1 else values


def unique_slices(input: Tensor, return_inverse: bool, return_counts: bool, dim: int) -> Any:
    """The distinct slices along `dim` in lexicographic order: `unique` with a dim."""
    rows = input.detach().movedim(dim, 0)
    rows = rows.flatten(1) if rows.ndim > 1 else rows.unsqueeze(1)
    order = _core.arange(rows.size(0), device=input.device)
    for column in reversed(rows.unbind(1)):
        order = order[column[order].argsort(stable=True)]
    values, inverse, counts = unique_consecutive(input.index_select(dim, order), True, True, dim)
    inverse = _core.empty_like(inverse).scatter(0, order, inverse)
    out = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return out if len(out) > 1 else values


check_all(globals())
