"""Gradients packed into buckets: a few large messages in place of many small ones; and sums of sparse ones."""

from __future__ import annotations

from collections.abc import Sequence

import adjoint_core as core
from adjoint_core import Tensor

from ._gathering import all_gather_into_tensor
from ._group import ProcessGroup


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


def mean_of_sparse(grad: Tensor | None, like: Tensor, divisor: int, group: ProcessGroup) -> Tensor:
    """The sparse gradients of all ranks added, and divided: each rank sends the rows that it has."""
    own = core.sparse_coo_tensor(size=tuple(like.shape), dtype=like.dtype) if grad is None else grad.coalesce()
    indices, values = own._indices(), own._values() / divisor
    counts = core.empty(group.size(), dtype=core.int64)
    all_gather_into_tensor(counts, core.tensor([values.size(0)]), group)
    longest = max(counts.tolist())
    parts = []
    for t in (indices.t(), values):
        row = core.zeros(longest, *t.shape[1:], dtype=t.dtype)
        row[: t.size(0)] = t
        every = core.empty(group.size(), *row.shape, dtype=t.dtype)
        all_gather_into_tensor(every, row, group)
        parts.append(core.cat([piece[:count] for piece, count in zip(every, counts.tolist())]))
    return core.sparse_coo_tensor(parts[0].t(), parts[1], tuple(like.shape)).coalesce()
