"""Reductions over ranks: averages, and sums in a fixed tree, made of what backends have."""

from __future__ import annotations

import adjoint_core as core
from adjoint_core import Tensor

from ._backend import Backend, ReduceOp
from ._elements import PAIRWISE
from ._modes import is_fixed_order


def tree(pieces: Tensor, op: ReduceOp) -> Tensor:
    """Reduces rows: neighbours first, then pairs of neighbours, and so on; a last one without neighbour waits for the next round."""
    kind, pairwise = pieces.dtype, PAIRWISE[op]
    rows = pieces.float() if kind in (core.float16, core.bfloat16) else pieces
    while len(rows) > 1:
        even = len(rows) // 2 * 2
        rows = core.cat([pairwise(rows[0:even:2], rows[1:even:2]), rows[even:]])
    return rows[0].to(kind)


def _in_tree(op: ReduceOp, buffer: Tensor) -> bool:
    return op in (ReduceOp.SUM, ReduceOp.PRODUCT) and (buffer.is_floating_point() or buffer.is_complex())


def all_reduce(backend: Backend, buffer: Tensor, op: ReduceOp) -> None:
    """``buffer`` becomes the reduction over ranks."""
    base = ReduceOp.SUM if op is ReduceOp.AVG else op
    if is_fixed_order() and _in_tree(base, buffer):
        flat, k = buffer.view(-1), backend.size
        share = -(-flat.numel() // k)
        padded = core.cat([flat, flat.new_zeros(share * k - flat.numel())])
        own = _own_share(backend, padded, base)
        backend.all_gather(padded, own)
        flat.copy_(padded[: flat.numel()])
    else:
        backend.all_reduce(buffer, base)
    if op is ReduceOp.AVG:
        buffer.div_(backend.size)


def reduce(backend: Backend, buffer: Tensor, op: ReduceOp, root: int) -> None:
    """The same on ``root``."""
    base = ReduceOp.SUM if op is ReduceOp.AVG else op
    if is_fixed_order() and _in_tree(base, buffer):
        whole = buffer if backend.rank == root else buffer.clone()
        all_reduce(backend, whole, base)
    else:
        backend.reduce(buffer, base, root)
    if op is ReduceOp.AVG and backend.rank == root:
        buffer.div_(backend.size)


def reduce_scatter(backend: Backend, own: Tensor, pieces: Tensor, op: ReduceOp) -> None:
    """``own`` gets this rank's piece of the reduction of all ``pieces``."""
    base = ReduceOp.SUM if op is ReduceOp.AVG else op
    if is_fixed_order() and _in_tree(base, own):
        own.copy_(_own_share(backend, pieces.view(-1), base).view(own.shape))
    else:
        backend.reduce_scatter(own, pieces, base)
    if op is ReduceOp.AVG:
        own.div_(backend.size)


def _own_share(backend: Backend, pieces: Tensor, op: ReduceOp) -> Tensor:
    """This rank's piece of the reduction: the pieces of all ranks come here, and are reduced here."""
    k = backend.size
    counts = [pieces.numel() // k] * k
    received = core.empty_like(pieces)
    backend.all_to_all(received, pieces, counts, counts)
    return tree(received.view(k, -1), op)
