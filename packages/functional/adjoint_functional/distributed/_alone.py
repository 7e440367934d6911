"""The backend of a world of one process: nothing travels, so no MPI is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint_core import Tensor
from adjoint_engine import no_grad

from ..futures import Future
from ._backend import Backend, ReduceOp, Work
from ._errors import DistBackendError


class AloneBackend(Backend):
    """One rank, which runs each call at once: a reduction over it is what it holds already."""

    device_type, rank, size = "cpu", 0, 1

    def __init__(self, name: str) -> None:
        self.name = name

    def submit(self, name: str, call: Callable[[], list[Tensor]]) -> Work:
        future: Future[list[Tensor]] = Future()
        try:
            with no_grad():
                result = call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        return Work(future)

    def run(self, name: str, call: Callable[[], object]) -> None:
        call()

    def all_reduce(self, buffer: Tensor, op: ReduceOp) -> None:
        pass

    def reduce(self, buffer: Tensor, op: ReduceOp, root: int) -> None:
        pass

    def broadcast(self, buffer: Tensor, root: int) -> None:
        pass

    def all_gather(self, pieces: Tensor, own: Tensor) -> None:
        _copy(pieces, own)

    def reduce_scatter(self, own: Tensor, pieces: Tensor, op: ReduceOp) -> None:
        _copy(own, pieces)

    def all_to_all(self, received: Tensor, sent: Tensor, received_counts: Sequence[int], sent_counts: Sequence[int]) -> None:
        _copy(received, sent)

    def gather(self, pieces: Tensor | None, own: Tensor, root: int) -> None:
        _copy(pieces, own)

    def scatter(self, own: Tensor, pieces: Tensor | None, root: int) -> None:
        _copy(own, pieces)

    def barrier(self) -> None:
        pass

    def send(self, buffer: Tensor, to: int, tag: int) -> Work:
        raise DistBackendError(f"send: a world of one process has no rank {to}")

    def recv(self, buffer: Tensor, source: int | None, tag: int, done: Callable[[], None]) -> Work:
        raise DistBackendError("recv: in a world of one process nobody sends")

    def subset(self, ranks: Sequence[int], number: int) -> Backend:
        return AloneBackend(self.name)

    def close(self) -> None:
        pass


def _copy(to: Tensor | None, source: Tensor | None) -> None:
    """The one piece that there is."""
    assert to is not None and source is not None
    if to.numel() != source.numel() or to.dtype != source.dtype:
        raise DistBackendError(
            f"a world of one process copies {source.numel()} elements of {source.dtype}, got a tensor of {to.numel()} of {to.dtype}"
        )
    with no_grad():
        to.view(-1).copy_(source.reshape(-1))
