"""The interface between `distributed` and what carries its messages: MPI today, NCCL can be the second.

A backend serves one group. Everything above it (layouts, averages, the fixed order of sums, objects, derivatives, data parallel) is
written in these calls alone. They come in three kinds:

- ``submit(name, call)`` puts ``call()`` in the group's order and returns at once. Calls of one group run one after the other in the
  order in which they were submitted, on every rank the same; calls of two groups do not wait for each other. MPI runs them in a
  thread of the group. A backend of streams runs ``call`` at once, and what it launches is put on the communication stream of the
  group, behind what the current stream holds (`_streams.StreamOrder`); ``Work.wait`` then makes the current stream wait, not the host.
- The collectives themselves, which only a submitted call uses. Buffers are contiguous tensors in plain memory; where one buffer holds
  a piece for every rank, the pieces lie one after the other in the order of ranks.
- ``send`` and ``recv``, which start at once, in no order with the collectives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from adjoint_core import Tensor

from ..futures import Future


class ReduceOp(Enum):
    """How the values of ranks become one: element by element."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7

    __hash__ = object.__hash__  # by identity: an enumeration hashes its name, in Python


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # annotations of libraries call its members' type so


class Work:
    """A collective, or a message, on its way."""

    def __init__(self, future: Future[list[Tensor]]) -> None:
        self._future = future

    def wait(self, timeout: Any = None) -> bool:
        """Waits until results are there.

        Raises:
            DistBackendError: another rank died or raised, ranks disagree, or the group's time ran out.
        """
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        """Whether results, or an error, are there."""
        return self._future.done()

    def is_success(self) -> bool:
        """Whether results are there."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """The error, if there is one."""
        return self._future._error

    def result(self) -> list[Tensor]:
        """The tensors written, which must be there."""
        return self._future.value()

    def get_future(self) -> Future[list[Tensor]]:
        """A future of the tensors written; its callbacks run in the thread that communicates, so they must not wait for a collective."""
        return self._future

    def source_rank(self) -> int:
        """The rank in the group that a received message came from."""
        raise RuntimeError("source_rank: only what recv has received has a source")


class Backend(ABC):
    """Carries the messages of one group. Its constants are the names that `init_process_group` knows, "nccl" to refuse it."""

    GLOO, MPI, NCCL, UNDEFINED = "gloo", "mpi", "nccl", "undefined"

    name: str  # as in init_process_group
    device_type: str  # of the tensors that it carries
    rank: int  # of this process in the group
    size: int

    @abstractmethod
    def submit(self, name: str, call: Callable[[], list[Tensor]]) -> Work:
        """Puts ``call`` in the order of the group; ``name`` is for errors."""

    def run(self, name: str, call: Callable[[], object]) -> None:
        """The same, and waits for it; a backend may have a shorter way."""
        self.submit(name, lambda: (call(), [])[1]).wait()

    def meet(self) -> None:  # noqa: B027
        """Returns when all ranks are here, and leaves the core to others meanwhile. Nothing where the host does not wait anyway."""

    @abstractmethod
    def all_reduce(self, buffer: Tensor, op: ReduceOp) -> None:
        """``buffer`` becomes the reduction over ranks (never AVG, which is made of SUM)."""

    @abstractmethod
    def reduce(self, buffer: Tensor, op: ReduceOp, root: int) -> None:
        """The same on ``root``; the others keep their buffers."""

    @abstractmethod
    def broadcast(self, buffer: Tensor, root: int) -> None:
        """All buffers become that of ``root``."""

    @abstractmethod
    def all_gather(self, pieces: Tensor, own: Tensor) -> None:
        """``pieces`` (size * n elements) get the ``own`` (n) of all ranks."""

    @abstractmethod
    def reduce_scatter(self, own: Tensor, pieces: Tensor, op: ReduceOp) -> None:
        """``own`` (n) gets this rank's piece of the reduction of all ``pieces`` (size * n)."""

    @abstractmethod
    def all_to_all(self, received: Tensor, sent: Tensor, received_counts: Sequence[int], sent_counts: Sequence[int]) -> None:
        """Piece j of ``sent`` goes to rank j, and piece j of ``received`` comes from it; counts are in elements."""

    @abstractmethod
    def gather(self, pieces: Tensor | None, own: Tensor, root: int) -> None:
        """``pieces`` of ``root`` get the ``own`` of all ranks."""

    @abstractmethod
    def scatter(self, own: Tensor, pieces: Tensor | None, root: int) -> None:
        """``own`` gets this rank's piece of the ``pieces`` of ``root``."""

    @abstractmethod
    def barrier(self) -> None:
        """Returns when all ranks have come."""

    @abstractmethod
    def send(self, buffer: Tensor, to: int, tag: int) -> Work:
        """Starts to send ``buffer``, which stays as it is until the work is done."""

    @abstractmethod
    def recv(self, buffer: Tensor, source: int | None, tag: int, done: Callable[[], None]) -> Work:
        """Starts to receive into ``buffer`` from a rank, or from any; ``done()`` is called when it is there."""

    @abstractmethod
    def subset(self, ranks: Sequence[int], number: int) -> Backend:
        """A backend for some ranks of this group, called by those ranks alone; ``number`` is the same on all of them, and new."""

    @abstractmethod
    def close(self) -> None:
        """Gives up what it holds; all ranks call it."""
