"""Collectives of Python objects, which are pickled: only among processes that trust one another."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from ._collectives import broadcast, check_count, root_of
from ._gathering import all_gather_into_tensor, gather, scatter
from ._group import ProcessGroup, pickled, resolve, unpickled
from ._pairs import recv, send


def _size(t: Tensor) -> Tensor:
    return core.tensor([t.numel()], device="cpu")


def _all_sizes(group: ProcessGroup, own: Tensor) -> list[int]:
    sizes = core.zeros(group.size(), dtype=core.int64, device="cpu")
    all_gather_into_tensor(sizes, _size(own), group)
    return sizes.tolist()


def _padded(t: Tensor, length: int) -> Tensor:
    return core.cat([t, t.new_zeros(length - t.numel())])


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Item i of ``object_list`` becomes the ``obj`` of rank i, on all ranks.

    Example::

        >>> import adjoint.distributed as dist
        >>> dist.init_process_group("mpi")
        >>> everybody = [None]
        >>> dist.all_gather_object(everybody, {"rank": 0})
        >>> everybody
        [{'rank': 0}]
        >>> dist.destroy_process_group()
    """
    given = resolve(group)
    if given is None:
        return
    check_count("all_gather_object", "object_list", object_list, given.size())
    own = pickled(obj)
    sizes = _all_sizes(given, own)
    rows = core.empty(given.size(), max(sizes), dtype=core.uint8, device="cpu")
    all_gather_into_tensor(rows, _padded(own, max(sizes)), given)
    object_list[:] = [unpickled(row[:n]) for row, n in zip(rows, sizes)]


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Item i of ``object_gather_list`` on rank ``dst`` (0) becomes the ``obj`` of rank i."""
    given = resolve(group)
    if given is None:
        return
    root = root_of(given, "gather_object", given.ranks[0] if dst is None and group_dst is None else dst, group_dst)
    here = given.rank() == root
    if here:
        check_count("gather_object", "object_gather_list", object_gather_list, given.size())
    own = pickled(obj)
    sizes = _all_sizes(given, own)
    rows = [core.empty(max(sizes), dtype=core.uint8, device="cpu") for _ in sizes] if here else None
    gather(_padded(own, max(sizes)), rows, group=given, group_dst=root)
    if rows is not None and object_gather_list is not None:
        object_gather_list[:] = [unpickled(row[:n]) for row, n in zip(rows, sizes)]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """The items of ``object_list`` become those of rank ``src`` (0), on all ranks, which have lists of the same length."""
    given = resolve(group)
    if given is None:
        return
    root = root_of(given, "broadcast_object_list", given.ranks[0] if src is None and group_src is None else src, group_src)
    here = given.rank() == root
    row = pickled(object_list) if here else core.empty(0, dtype=core.uint8, device="cpu")
    length = _size(row)
    broadcast(length, group=given, group_src=root)
    if not here:
        row = core.empty(int(length.item()), dtype=core.uint8, device="cpu")
    broadcast(row, group=given, group_src=root)
    if not here:
        came = unpickled(row)
        if len(came) != len(object_list):
            raise ValueError(
                f"broadcast_object_list: lists of one length are needed, got {len(object_list)} for {len(came)} objects"
            )
        object_list[:] = came


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """The first item of ``scatter_object_output_list`` becomes the one of rank ``src`` (0) that stands at this rank's place."""
    given = resolve(group)
    if given is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("scatter_object_list: scatter_object_output_list must be a list of at least one item")
    root = root_of(given, "scatter_object_list", given.ranks[0] if src is None and group_src is None else src, group_src)
    here = given.rank() == root
    sizes, rows = core.zeros(given.size(), dtype=core.int64, device="cpu"), None
    if here:
        check_count("scatter_object_list", "scatter_object_input_list", scatter_object_input_list, given.size())
        rows = [pickled(obj) for obj in scatter_object_input_list or ()]
        sizes = core.tensor([row.numel() for row in rows], device="cpu")
    broadcast(sizes, group=given, group_src=root)
    longest = int(sizes.max().item())
    own = core.empty(longest, dtype=core.uint8, device="cpu")
    scatter(own, None if rows is None else [_padded(row, longest) for row in rows], group=given, group_src=root)
    scatter_object_output_list[0] = unpickled(own[: int(sizes[given.rank()].item())])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Sends the items of ``object_list`` to rank ``dst``."""
    row = pickled(object_list)
    send(_size(row), dst, group, group_dst=group_dst)
    send(row, dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """The items of ``object_list`` become those that rank ``src``, or any, has sent; returns the rank."""
    length = core.zeros(1, dtype=core.int64, device="cpu")
    source = recv(length, src, group, group_src=group_src)
    if source < 0:
        return -1
    row = core.empty(int(length.item()), dtype=core.uint8, device="cpu")
    recv(row, source, group)
    object_list[:] = unpickled(row)
    return source
