"""Gradients packed into buckets: a few large messages in place of many small ones."""

from __future__ import annotations

from collections.abc import Sequence

import adjoint_core as core
from adjoint_core import Tensor


class GradBucket:
    """Some gradients in one row, as communication hooks get them."""

    def __init__(self, index: int, params: Sequence[Tensor], last: bool) -> None:
        self._index, self._params, self._last = index, list(params), last
        self._row = core.zeros(sum(p.numel() for p in params), dtype=params[0].dtype, device=params[0].device)
        self._views = _cut(self._row, self._params)

    def index(self) -> int:
        """The bucket's number; buckets are reduced in this order."""
        return self._index

    def buffer(self) -> Tensor:
        """All gradients, in one row."""
        return self._row

    def gradients(self) -> list[Tensor]:
        """The gradients, as views of the row."""
        return list(self._views)

    def parameters(self) -> list[Tensor]:
        """The parameters, in the order of the gradients."""
        return list(self._params)

    def is_last(self) -> bool:
        """Whether it is the last one that a backward fills."""
        return self._last

    def set_buffer(self, tensor: Tensor) -> None:
        """Puts another row of the same length in place."""
        if tensor.numel() != self._row.numel():
            raise ValueError(f"GradBucket.set_buffer: {self._row.numel()} elements are needed, got {tensor.numel()}")
        self._row.copy_(tensor.view(-1))


def _cut(row: Tensor, params: Sequence[Tensor]) -> list[Tensor]:
    views, start = [], 0
    for p in params:
        views.append(row[start : start + p.numel()].view(p.shape))
        start += p.numel()
    return views


def plan(params: Sequence[Tensor], first: int, cap: int) -> list[GradBucket]:
    """Buckets for parameters in the order in which backward reaches them: of one dtype each, closed at ``cap`` bytes.

    The first one is smaller (``first`` bytes), so that communication begins early.
    """
    done: list[list[tuple[int, Tensor]]] = []
    filling: dict[core.dtype, list[tuple[int, Tensor]]] = {}
    for i, p in enumerate(params):
        group = filling.setdefault(p.dtype, [])
        group.append((i, p))
        if sum(q.numel() * q.element_size() for _, q in group) >= (cap if done else first):
            done.append(filling.pop(p.dtype))
    groups = sorted([*done, *filling.values()], key=lambda group: group[-1][0])  # by when they are full
    return [GradBucket(i, [p for _, p in group], i == len(groups) - 1) for i, group in enumerate(groups)]
