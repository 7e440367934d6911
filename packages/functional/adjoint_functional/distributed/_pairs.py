"""Messages from one rank to another."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import graph

from ._backend import Work
from ._collectives import root_of
from ._errors import DistBackendError
from ._group import ProcessGroup, resolve
from ._launching import check, dense, fill


def isend(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Work | None:
    """Starts to send ``tensor`` to rank ``dst``; it must stay as it is until the work is done.

    Raises:
        ValueError: to itself, or to no rank of the group.
    """
    given = resolve(group)
    if given is None:
        return None
    check(given, "isend", [tensor])
    to = _other("isend", given, root_of(given, "isend", dst, group_dst))
    return given.backend.send(dense(tensor), to, tag)


def irecv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Work | None:
    """Starts to receive into ``tensor`` from rank ``src``, or from any."""
    given = resolve(group)
    if given is None:
        return None
    check(given, "irecv", [tensor])
    anyone = src is None and group_src is None
    source = None if anyone else _other("irecv", given, root_of(given, "irecv", src, group_src))
    buffer = dense(tensor)
    graph.increment_version(tensor)
    return given.backend.recv(buffer, source, tag, lambda: fill(tensor, buffer))


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Sends ``tensor`` to rank ``dst``; returns when it may be overwritten."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receives into ``tensor`` from rank ``src``, or from any; returns the rank that it came from, -1 outside of the group.

    Raises:
        DistBackendError: the message has another size, or a rank failed.
    """
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    given = resolve(group)
    assert given is not None
    return given.ranks[work.source_rank()]


def _other(name: str, group: ProcessGroup, rank: int) -> int:
    if rank == group.rank():
        kind = "source" if name == "irecv" else "destination"
        raise ValueError(
            f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current process ({name}, rank {group.ranks[rank]})"
        )
    return rank


class P2POp:
    """A message of `batch_isend_irecv`: ``P2POp(dist.isend, tensor, peer)``."""

    def __init__(
        self,
        op: Callable[..., Work | None],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError("P2POp: op must be distributed.isend or distributed.irecv")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = op, tensor, peer, group, tag, group_peer


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts several messages; returns the work of each."""
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError("batch_isend_irecv: a list of P2POp is needed")
    works = [p.op(p.tensor, p.peer, p.group, p.tag, p.group_peer) for p in p2p_op_list]
    return [work for work in works if work is not None]


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """A barrier in which rank 0 names a rank that has not come within ``timeout`` (30 s), or all of them.

    Raises:
        DistBackendError: ranks did not come.
    """
    given = resolve(group)
    if given is None or given.size() == 1:
        return
    sign = core.zeros(1, dtype=core.uint8, device="cpu")
    if given.rank():
        send(sign, group=given, tag=_BARRIER, group_dst=0)
        recv(sign, group=given, tag=_BARRIER, group_src=0)
        return
    here = {r: irecv(core.empty_like(sign), group=given, tag=_BARRIER, group_src=r) for r in range(1, given.size())}
    deadline = time.monotonic() + (30.0 if timeout is None else timeout.total_seconds())
    while missing := [given.ranks[r] for r, work in here.items() if work is not None and not work.is_completed()]:
        if time.monotonic() > deadline:
            named = missing if wait_all_ranks else missing[:1]
            raise DistBackendError(f"monitored_barrier: ranks {named} have not come", missing[0])
        time.sleep(1e-3)
    for r in here:
        send(sign, group=given, tag=_BARRIER, group_dst=r)


_BARRIER = 32767  # a tag that every MPI has
