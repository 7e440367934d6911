"""A second backend for `distributed`: collectives on a stream of their own, in order with the computation, on the stand-in driver."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest

import adjoint as ad
import adjoint.distributed as dist
from adjoint_functional.distributed._streams import StreamOrder

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p


def log() -> list[list[str]]:
    return [line.split() for line in driver.standin_log().decode().splitlines()]


def number(stream: ad.cuda.Stream) -> str:
    """What the log calls a stream."""
    log()
    stream.record_event()
    return log()[0][3]


class Echo(dist.Backend):
    """A world of one, whose collectives copy on the communication stream what NCCL would send."""

    name, device_type, rank, size = "echo", "cuda", 0, 1

    def __init__(self) -> None:
        self.order = StreamOrder("cuda:0")

    def submit(self, name: str, call: Any) -> dist.Work:
        return self.order.submit(name, call)

    def all_reduce(self, buffer: ad.Tensor, op: dist.ReduceOp) -> None:
        buffer.copy_(buffer.clone())

    def all_gather(self, pieces: ad.Tensor, own: ad.Tensor) -> None:
        pieces.view(-1).copy_(own.view(-1))

    def _not_here(self, *given: Any) -> Any:
        raise NotImplementedError

    reduce = broadcast = reduce_scatter = all_to_all = gather = scatter = barrier = send = recv = subset = close = _not_here


@pytest.fixture
def group() -> dist.ProcessGroup:
    return dist.ProcessGroup([0], Echo())


def test_a_collective_comes_after_what_was_and_before_what_will_be(group: dist.ProcessGroup) -> None:
    compute, comm = ad.cuda.Stream(), group.backend.order.stream
    with compute:
        x = ad.ones(1000, device="cuda")
        log()
        work = dist.all_reduce(x, group=group, async_op=True)
        during = log()
        x.fill_(3)  # not ordered: this is what wait is for
        work.wait()
        after = log()
    first, second = number(compute), number(comm)
    # The communication stream waits for the current one before it copies, and says when it is done; wait() makes the current one wait.
    begun, waits, *copies, done = [line for line in during if line[0] != "allocate"]
    assert begun[0] == "record" and begun[2:] == ["stream", first] and waits == ["wait", second, "for", begun[1]], during
    assert [line[2:] for line in copies] == [["stream", second]] * 2, during
    assert done[0] == "record" and done[2:] == ["stream", second] and after[-1] == ["wait", first, "for", done[1]], (
        during,
        after,
    )


def test_values_futures_and_several_groups(group: dist.ProcessGroup) -> None:
    x = ad.full((5,), 2.0, device="cuda")
    dist.all_reduce(x, group=group)
    got = [ad.zeros(5, device="cuda")]
    dist.all_gather(got, x, group=group)
    assert x.tolist() == got[0].tolist() == [2.0] * 5
    work = dist.all_reduce(x, group=group, async_op=True)
    seen = []
    following = work.get_future().then(lambda f: seen.append(ad.cuda.current_stream()) or f.value()[0].clone())
    assert following.wait().tolist() == [2.0] * 5 and seen == [group.backend.order.stream]
    ad.cuda.synchronize()
    assert work.is_completed() and work.is_success() and work.result()[0] is x
    other = dist.ProcessGroup([0], Echo())
    assert other.backend.order.stream != group.backend.order.stream


def test_tensors_of_the_wrong_device(group: dist.ProcessGroup) -> None:
    with pytest.raises(ValueError, match="echo carries dense tensors of cuda, got adjoint.strided on cpu"):
        dist.all_reduce(ad.ones(2), group=group)
