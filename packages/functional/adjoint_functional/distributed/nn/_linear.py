"""Collectives as linear maps over all ranks, each with its transpose.

The map takes the tensors of all ranks to the results of all ranks, so the transpose of a sum that all get is itself, of a broadcast a
reduction, of a gathering a scattering. These pairs are all that derivatives of any order and mode need: the vjp is the transpose, the
jvp the map itself, and a batch is one more dimension, which every map leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Function

from .. import _collectives as plain
from .. import _gathering as pieces
from .._group import ProcessGroup


class Map(NamedTuple):
    """A linear collective: which one, of which group, and what it is about (a rank of the group, or the lengths sent and received)."""

    name: str
    group: ProcessGroup
    about: Any = None

    def transposed(self) -> Map:
        """The transpose over all ranks."""
        about = self.about[::-1] if self.name == "all_to_all" else self.about
        return Map(_TRANSPOSED[self.name], self.group, about)

    def __call__(self, x: Tensor) -> Tensor:
        """The map of ``x``, differentiable."""
        return _Collective.apply(x, self)


_TRANSPOSED = {
    "all_reduce": "all_reduce",
    "broadcast": "reduce",
    "reduce": "broadcast",
    "all_gather": "reduce_scatter",
    "reduce_scatter": "all_gather",
    "gather": "scatter",
    "scatter": "gather",
    "all_to_all": "all_to_all",
}


class _Collective(Function):
    @staticmethod
    def forward(x: Tensor, which: Map) -> Tensor:
        return _FORWARD[which.name](x, which.group, which.about)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.which = inputs[1]

    @staticmethod
    def vjp(ctx: Any, v: Tensor) -> Any:
        return ctx.which.transposed()(v), None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, _: Any) -> Tensor:
        return ctx.which(t)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: Tensor, which: Map) -> tuple[Tensor, int]:
        return which(x.movedim(in_dims[0], -1)), -1


def _all_reduce(x: Tensor, group: ProcessGroup, _: None) -> Tensor:
    y = x.clone(memory_format=core.contiguous_format)
    plain.all_reduce(y, group=group)
    return y


def _broadcast(x: Tensor, group: ProcessGroup, root: int) -> Tensor:
    y = x.clone(memory_format=core.contiguous_format)
    plain.broadcast(y, group=group, group_src=root)
    return y


def _reduce(x: Tensor, group: ProcessGroup, root: int) -> Tensor:
    y = x.clone(memory_format=core.contiguous_format)
    plain.reduce(y, group=group, group_dst=root)
    return y if group.rank() == root else core.zeros_like(y)


def _all_gather(x: Tensor, group: ProcessGroup, _: None) -> Tensor:
    y = x.new_empty((group.size(), *x.shape))
    pieces.all_gather_into_tensor(y, x, group)
    return y


def _reduce_scatter(x: Tensor, group: ProcessGroup, _: None) -> Tensor:
    y = x.new_empty(x.shape[1:])
    plain.reduce_scatter_tensor(y, x, group=group)
    return y


def _gather(x: Tensor, group: ProcessGroup, root: int) -> Tensor:
    y = x.new_zeros((group.size(), *x.shape))
    pieces.gather(x, list(y.unbind()) if group.rank() == root else None, group=group, group_dst=root)
    return y


def _scatter(x: Tensor, group: ProcessGroup, root: int) -> Tensor:
    y = x.new_empty(x.shape[1:])
    pieces.scatter(y, list(x.unbind()) if group.rank() == root else None, group=group, group_src=root)
    return y


def _all_to_all(x: Tensor, group: ProcessGroup, lengths: tuple[list[int], list[int]]) -> Tensor:
    sent, received = lengths
    y = x.new_empty((sum(received), *x.shape[1:]))
    pieces.all_to_all_single(y, x, received, sent, group)
    return y


_FORWARD: dict[str, Callable[[Tensor, ProcessGroup, Any], Tensor]] = {
    "all_reduce": _all_reduce,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "gather": _gather,
    "scatter": _scatter,
    "all_to_all": _all_to_all,
}
