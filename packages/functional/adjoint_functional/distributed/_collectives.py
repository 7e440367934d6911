"""Collectives whose results are tensors of one size: reductions, broadcasts and barriers."""

from __future__ import annotations

from functools import partial
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import _engine

from . import _reduce
from ._backend import ReduceOp, Work
from ._elements import check_reduction
from ._group import ProcessGroup, get_group_rank, resolve
from ._launching import check, check_same, dense, describe, fill, launch
from ._modes import is_ordinary

_SUM = ReduceOp.SUM  # found faster than the class's member, in what a small call takes


def root_of(group: ProcessGroup, name: str, rank: int | None, group_rank: int | None) -> int:
    """The rank in the group that a collective is about, of which one of two spellings is given.

    Raises:
        ValueError: both or none are given, or the group has no such rank.
    """
    if (rank is None) == (group_rank is None):
        raise ValueError(f"{name}: either a rank of the world or one of the group is needed, got {rank} and {group_rank}")
    if rank is not None:
        return get_group_rank(group, rank)
    assert group_rank is not None
    if not 0 <= group_rank < group.size():
        raise ValueError(f"{name}: rank must be in [0, {group.size() - 1}], got {group_rank}")
    return group_rank


def check_op(name: str, op: Any, t: Tensor) -> None:
    """Raises unless ``op`` reduces elements of ``t``."""
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{name}: op must be a ReduceOp, got {op!r}")
    check_reduction(name, t.dtype, op)


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Replaces ``tensor`` by its reduction over all ranks, on all of them.

    Arguments:
        tensor: of any shape, the same on all ranks; it is written.
        op: how elements are reduced: SUM, AVG, PRODUCT, MIN, MAX, and for integers BAND, BOR, BXOR.
        group: of which ranks; all.
        async_op: return at once, with the work to wait for.

    Raises:
        TypeError, ValueError: no tensor of the CPU, or an operation that its elements have not.
        DistBackendError: another rank failed.

    Example::

        >>> import adjoint.distributed as dist
        >>> dist.init_process_group("mpi")
        >>> x = ad.tensor([1., 2.])
        >>> dist.all_reduce(x)
        >>> x
        tensor([1., 2.])
        >>> dist.destroy_process_group()
    """
    given = resolve(group)
    if given is None:
        return None
    backend = given.backend
    if op is _SUM and not async_op and is_ordinary() and backend.device_type == "cpu" and _engine.begin_write(tensor):
        backend.run("all_reduce", partial(backend.all_reduce, tensor, op))  # by far the most frequent, made short
        return None
    check(given, "all_reduce", [tensor])
    if op is not ReduceOp.SUM:
        check_op("all_reduce", op, tensor)
    buffer = dense(tensor)

    def call() -> None:
        _reduce.all_reduce(given.backend, buffer, op)
        fill(tensor, buffer)

    return launch(given, "all_reduce", lambda: describe("all_reduce", tensor, op=op), [tensor], call, async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Replaces ``tensor`` of rank ``dst`` by its reduction over all ranks. The other ranks keep theirs."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "reduce", [tensor])
    check_op("reduce", op, tensor)
    root, buffer = root_of(given, "reduce", dst, group_dst), dense(tensor)
    here = given.rank() == root

    def call() -> None:
        _reduce.reduce(given.backend, buffer, op, root)
        if here:
            fill(tensor, buffer)

    return launch(
        given,
        "reduce",
        lambda: describe("reduce", tensor, op=op, dst=given.ranks[root]),
        [tensor] if here else [],
        call,
        async_op,
    )


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Replaces ``tensor`` by that of rank ``src``, on all ranks."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "broadcast", [tensor])
    root, buffer = root_of(given, "broadcast", src, group_src), dense(tensor)
    here = given.rank() == root

    def call() -> None:
        given.backend.broadcast(buffer, root)
        if not here:
            fill(tensor, buffer)

    return launch(
        given,
        "broadcast",
        lambda: describe("broadcast", tensor, src=given.ranks[root]),
        [] if here else [tensor],
        call,
        async_op,
    )


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output`` gets this rank's piece of the reduction of ``input`` over ranks.

    Arguments:
        output: (n, ...).
        input: (size * n, ...), or (size, n, ...).

    Raises:
        ValueError: the sizes do not fit.
    """
    given = resolve(group)
    if given is None:
        return None
    check(given, "reduce_scatter_tensor", [output, input])
    check_op("reduce_scatter_tensor", op, input)
    check_pieces("reduce_scatter_tensor", input, output, given.size())
    pieces, own = dense(input), dense(output)

    def call() -> None:
        _reduce.reduce_scatter(given.backend, own, pieces, op)
        fill(output, own)

    return launch(
        given, "reduce_scatter_tensor", lambda: describe("reduce_scatter_tensor", input, op=op), [output], call, async_op
    )


def check_pieces(name: str, whole: Tensor, piece: Tensor, size: int) -> None:
    """Raises unless ``whole`` holds ``size`` tensors like ``piece``.

    Raises:
        ValueError: it does not.
    """
    if whole.dtype != piece.dtype or whole.numel() != size * piece.numel():
        raise ValueError(
            f"{name}: a tensor of {size} * {piece.numel()} elements of {piece.dtype} is needed, got {whole.dtype} of shape {tuple(whole.shape)}"
        )


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output`` gets the reduction over ranks of the tensor of ``input_list`` that stands at this rank's place."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "reduce_scatter", [output, *input_list])
    check_op("reduce_scatter", op, output)
    check_count("reduce_scatter", "input_list", input_list, given.size())
    check_same("reduce_scatter", input_list, output)
    own, pieces = dense(output), packed(input_list)

    def call() -> None:
        _reduce.reduce_scatter(given.backend, own, pieces, op)
        fill(output, own)

    return launch(given, "reduce_scatter", lambda: describe("reduce_scatter", output, op=op), [output], call, async_op)


def check_count(name: str, what: str, tensors: Any, size: int) -> None:
    """Raises unless there is a tensor for each rank.

    Raises:
        ValueError: there is not.
    """
    if not isinstance(tensors, list | tuple) or len(tensors) != size:
        got = len(tensors) if isinstance(tensors, list | tuple) else type(tensors).__name__
        raise ValueError(f"{name}: {what} must hold a tensor for each of {size} ranks, got {got}")


def packed(tensors: list[Tensor]) -> Tensor:
    """All elements in one row."""
    return core.cat([t.detach().reshape(-1) for t in tensors])


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Returns when all ranks have come here."""
    given = resolve(group)
    if given is None:
        return None
    return launch(given, "barrier", lambda: "barrier()", [], given.backend.barrier, async_op)
