"""Collectives that move a piece from or to every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ._backend import Backend, Work
from ._collectives import check_count, check_pieces, packed, root_of
from ._errors import DistBackendError
from ._group import resolve
from ._launching import check, check_same, dense, describe, fill, launch
from ._modes import DebugLevel, get_debug_level


def _unpack(tensors: Sequence[Tensor], row: Tensor) -> None:
    start = 0
    for t in tensors:
        t.detach().copy_(row[start : start + t.numel()].view(t.shape))
        start += t.numel()


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Tensor i of ``tensor_list`` becomes the ``tensor`` of rank i, on all ranks.

    Raises:
        ValueError: there is not one for each rank, or one is of another size or type.

    Example::

        >>> import adjoint.distributed as dist
        >>> dist.init_process_group("mpi")
        >>> pieces = [ad.zeros(2)]
        >>> dist.all_gather(pieces, ad.ones(2))
        >>> pieces
        [tensor([1., 1.])]
        >>> dist.destroy_process_group()
    """
    given = resolve(group)
    if given is None:
        return None
    check(given, "all_gather", [tensor, *tensor_list])
    check_count("all_gather", "tensor_list", tensor_list, given.size())
    check_same("all_gather", tensor_list, tensor)
    own, pieces = dense(tensor), tensor.new_empty(given.size() * tensor.numel())

    def call() -> None:
        given.backend.all_gather(pieces, own)
        _unpack(tensor_list, pieces)

    return launch(given, "all_gather", lambda: describe("all_gather", tensor), tensor_list, call, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """``output_tensor`` (size * n, ...) or (size, n, ...) becomes the ``input_tensor`` (n, ...) of all ranks, one after the other."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "all_gather_into_tensor", [output_tensor, input_tensor])
    check_pieces("all_gather_into_tensor", output_tensor, input_tensor, given.size())
    own, pieces = dense(input_tensor), dense(output_tensor)

    def call() -> None:
        given.backend.all_gather(pieces, own)
        fill(output_tensor, pieces)

    return launch(
        given,
        "all_gather_into_tensor",
        lambda: describe("all_gather_into_tensor", input_tensor),
        [output_tensor],
        call,
        async_op,
    )


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Tensor i of ``gather_list`` on rank ``dst`` (0) becomes the ``tensor`` of rank i. The other ranks give no list."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "gather", [tensor, *(gather_list or ())])
    root = root_of(given, "gather", given.ranks[0] if dst is None and group_dst is None else dst, group_dst)
    here = given.rank() == root
    _check_list("gather", "gather_list", gather_list, here, given.size())
    check_same("gather", gather_list or (), tensor)
    own = dense(tensor)
    pieces = tensor.new_empty(given.size() * tensor.numel()) if here else None

    def call() -> None:
        given.backend.gather(pieces, own, root)
        if pieces is not None:
            _unpack(gather_list or (), pieces)

    return launch(given, "gather", lambda: describe("gather", tensor, dst=given.ranks[root]), gather_list or [], call, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """``tensor`` becomes the tensor of ``scatter_list`` on rank ``src`` (0) that stands at this rank's place."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "scatter", [tensor, *(scatter_list or ())])
    root = root_of(given, "scatter", given.ranks[0] if src is None and group_src is None else src, group_src)
    here = given.rank() == root
    _check_list("scatter", "scatter_list", scatter_list, here, given.size())
    check_same("scatter", scatter_list or (), tensor)
    own, pieces = dense(tensor), packed(scatter_list) if here and scatter_list else None

    def call() -> None:
        given.backend.scatter(own, pieces, root)
        fill(tensor, own)

    return launch(given, "scatter", lambda: describe("scatter", tensor, src=given.ranks[root]), [tensor], call, async_op)


def _check_list(name: str, what: str, tensors: list[Tensor] | None, here: bool, size: int) -> None:
    if here:
        check_count(name, what, tensors, size)
    elif tensors:
        raise ValueError(f"{name}: {what} must be left out on the other ranks, got {len(tensors)} tensors")


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Tensor j of ``input_tensor_list`` goes to rank j, and tensor j of ``output_tensor_list`` comes from it; sizes may differ.

    Raises:
        ValueError: there is not one for each rank, or types differ.
    """
    given = resolve(group)
    if given is None:
        return None
    check(given, "all_to_all", [*output_tensor_list, *input_tensor_list])
    for what, tensors in (("output_tensor_list", output_tensor_list), ("input_tensor_list", input_tensor_list)):
        check_count("all_to_all", what, tensors, given.size())
    kinds = {t.dtype for t in (*output_tensor_list, *input_tensor_list)}
    if len(kinds) > 1:
        raise ValueError(f"all_to_all: tensors of one type are needed, got {sorted(map(str, kinds))}")
    counts_in, counts_out = ([t.numel() for t in ts] for ts in (input_tensor_list, output_tensor_list))
    sent = packed(input_tensor_list)
    received = sent.new_empty(sum(counts_out))

    def call() -> None:
        _check_pieces("all_to_all", given.backend, counts_out, counts_in)
        given.backend.all_to_all(received, sent, counts_out, counts_in)
        _unpack(output_tensor_list, received)

    return launch(given, "all_to_all", lambda: f"all_to_all({sent.dtype})", output_tensor_list, call, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Piece j of ``input`` along its first dimension goes to rank j, and piece j of ``output`` comes from it.

    Arguments:
        output_split_sizes, input_split_sizes: the lengths of the pieces; equal ones.

    Raises:
        ValueError: lengths that do not add up, or an input that cannot be divided.
    """
    given = resolve(group)
    if given is None:
        return None
    check(given, "all_to_all_single", [output, input])
    counts_out = split_counts("all_to_all_single", output, output_split_sizes, given.size())
    counts_in = split_counts("all_to_all_single", input, input_split_sizes, given.size())
    if output.dtype != input.dtype:
        raise ValueError(f"all_to_all_single: tensors of one type are needed, got {output.dtype} and {input.dtype}")
    sent, received = dense(input), dense(output)

    def call() -> None:
        _check_pieces("all_to_all_single", given.backend, counts_out, counts_in)
        given.backend.all_to_all(received, sent, counts_out, counts_in)
        fill(output, received)

    return launch(given, "all_to_all_single", lambda: f"all_to_all_single({input.dtype})", [output], call, async_op)


def _check_pieces(name: str, backend: Backend, coming: Sequence[int], going: Sequence[int]) -> None:
    """In the debug mode: raises on all ranks if one sends to another what that one does not expect."""
    if get_debug_level() is not DebugLevel.DETAIL:
        return
    every = core.empty(backend.size * 2 * backend.size, dtype=core.int64, device="cpu")
    backend.all_gather(every, core.tensor([*coming, *going], device="cpu"))
    tables = every.view(backend.size, 2, backend.size).tolist()
    for j, (awaited, _) in enumerate(tables):
        for i, (_, sent) in enumerate(tables):
            if sent[j] != awaited[i]:
                raise DistBackendError(f"{name}: rank {i} sends {sent[j]} elements to rank {j}, which expects {awaited[i]}", i)


def split_counts(name: str, t: Tensor, sizes: Sequence[int] | None, size: int) -> list[int]:
    """How many elements of ``t`` belong to each rank.

    Raises:
        ValueError: the lengths do not add up, or there are none and ``t`` cannot be divided.
    """
    length = t.shape[0] if t.ndim else 1
    row = t.numel() // length if length else 0
    if not sizes:
        if length % size:
            raise ValueError(f"{name}: the first dimension must divide by {size} ranks, got shape {tuple(t.shape)}")
        return [length // size * row] * size
    if len(sizes) != size or sum(sizes) != length or min(sizes) < 0:
        raise ValueError(f"{name}: {size} lengths that add up to {length} are needed, got {list(sizes)}")
    return [n * row for n in sizes]
