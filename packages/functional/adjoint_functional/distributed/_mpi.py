"""The backend over MPI: each group has a communicator and a thread that runs its collectives.

Calls of MPI block in that thread, without the interpreter lock, while the thread of the user computes, or waits where it can be told
that another rank died. Two groups, and messages, are in MPI at the same time: MPI_THREAD_MULTIPLE is required.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_engine import no_grad

from ..futures import Future
from ._backend import Backend, ReduceOp, Work
from ._elements import element_type, reduction
from ._errors import DistBackendError
from ._watch import Watch


def memory(t: Tensor | None, pieces: int = 1) -> Any:
    """A contiguous tensor as MPI takes it: memory, count (of one of its ``pieces``), type."""
    if t is None:
        return None
    plain, kind = _core._lend(t), element_type(t.dtype)
    return [plain, kind] if pieces == 1 else [plain, t.numel() // pieces, kind]


def parts(t: Tensor, counts: Sequence[int]) -> Any:
    """The same where each rank's piece has its own count."""
    starts = [sum(counts[:i]) for i in range(len(counts))]
    whole, kind = memory(t)
    return [whole, list(counts), starts, kind]


PIECE = 1 << 20
"Bytes that are summed at a time: what MPI moves and adds stays in the caches, where sums of 64 MiB take half of the time."


class MpiBackend(Backend):
    """A communicator, and the thread that uses it.

    Arguments:
        comm: of mpi4py; it belongs to this object.
        ranks: the ranks of the group's members in the world.
        watch: what knows of ranks that died.
        timeout: seconds that a call may take.
    """

    name, device_type = "mpi", "cpu"

    def __init__(self, comm: Any, ranks: Sequence[int], watch: Watch, timeout: float) -> None:
        from mpi4py import MPI

        self._in_place = MPI.IN_PLACE
        self._comm, self._ranks, self._watch, self._timeout = comm, tuple(ranks), watch, timeout
        self.rank, self.size = comm.rank, comm.size
        self._piece = max(
            PIECE, comm.size * PIECE // 4
        )  # of many ranks each sums a part of it, and a message should not be small
        self._watched = self.size == 1 or watch.listens  # what waits in MPI without a thread needs the watch, for a timeout too
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._turn = threading.Lock()  # held by who is in MPI
        self._waiting = 0  # calls submitted and not done
        self._counting = threading.Lock()

    # ---- order

    def run(self, name: str, call: Callable[[], object]) -> None:
        """In this thread, where nothing is submitted: as fast as MPI, but what is in MPI cannot be told of a failure.

        So the watch ends the process if there is one meanwhile; before and after it, and in ``Work.wait``, it is raised.
        """
        if self._waiting or not self._watched or not self._turn.acquire(False):
            return super().run(name, call)
        watch, thread = self._watch, threading.get_ident()
        try:
            waits = (name, self._ranks, self._timeout, time.monotonic())
            if watch.failed is not None or watch.left:
                watch.check(*waits)
            watch.inside[thread] = waits
            call()
        except BaseException as error:
            raise self._explained(name, error) from None
        finally:
            watch.inside.pop(thread, None)
            self._turn.release()

    def submit(self, name: str, call: Callable[[], list[Tensor]]) -> Work:
        future: Future[list[Tensor]] = Future(check=self._watch.guard(name, self._ranks, self._timeout))

        def run() -> None:
            failed: BaseException | None = None
            result: list[Tensor] = []
            try:
                with self._turn:
                    result = call()
            except BaseException as error:
                failed = self._explained(name, error)
            with self._counting:
                self._waiting -= 1
            future.set_result(result) if failed is None else future.set_exception(failed)

        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"adjoint.distributed {self._ranks}", daemon=True)
            self._thread.start()
        with self._counting:
            self._waiting += 1
        self._calls.put(run)
        return Work(future)

    def _serve(self) -> None:
        with no_grad():
            while (run := self._calls.get()) is not None:
                run()

    def _explained(self, name: str, error: BaseException) -> BaseException:
        from mpi4py import MPI

        if isinstance(error, MPI.Exception):
            hint = "ADJOINT_DISTRIBUTED_DEBUG=DETAIL says whether ranks call different collectives"
            return DistBackendError(f"{name}: MPI says: {error.Get_error_string()}; {hint}")
        return error

    # ---- collectives

    def meet(self) -> None:
        """MPI waits by asking without pause: in a collective, the thread of a rank that is early would take the core from backward."""
        request, check = self._comm.Ibarrier(), self._watch.guard("all_reduce", self._ranks, self._timeout)
        patiently(request.Test, check)

    def all_reduce(self, buffer: Tensor, op: ReduceOp) -> None:
        row, how = memory(buffer), reduction(op, buffer.dtype)
        if buffer.nbytes <= self._piece:
            return self._comm.Allreduce(self._in_place, row, how)
        whole = memoryview(row[0])
        for start in range(0, buffer.nbytes, self._piece):
            self._comm.Allreduce(self._in_place, [whole[start : start + self._piece], row[1]], how)
        return None

    def reduce(self, buffer: Tensor, op: ReduceOp, root: int) -> None:
        here = self.rank == root
        self._comm.Reduce(
            self._in_place if here else memory(buffer), memory(buffer) if here else None, reduction(op, buffer.dtype), root
        )

    def broadcast(self, buffer: Tensor, root: int) -> None:
        self._comm.Bcast(memory(buffer), root)

    def all_gather(self, pieces: Tensor, own: Tensor) -> None:
        self._comm.Allgather(memory(own), memory(pieces, self.size))

    def reduce_scatter(self, own: Tensor, pieces: Tensor, op: ReduceOp) -> None:
        self._comm.Reduce_scatter_block(memory(pieces, self.size), memory(own), reduction(op, own.dtype))

    def all_to_all(self, received: Tensor, sent: Tensor, received_counts: Sequence[int], sent_counts: Sequence[int]) -> None:
        self._comm.Alltoallv(parts(sent, sent_counts), parts(received, received_counts))

    def gather(self, pieces: Tensor | None, own: Tensor, root: int) -> None:
        self._comm.Gather(memory(own), memory(pieces, self.size), root)

    def scatter(self, own: Tensor, pieces: Tensor | None, root: int) -> None:
        self._comm.Scatter(memory(pieces, self.size), memory(own), root)

    def barrier(self) -> None:
        self._comm.Barrier()

    # ---- messages

    def send(self, buffer: Tensor, to: int, tag: int) -> Work:
        return Message(self, "send", buffer, self._comm.Isend(memory(buffer), to, tag))

    def recv(self, buffer: Tensor, source: int | None, tag: int, done: Callable[[], None]) -> Work:
        from mpi4py import MPI

        request = self._comm.Irecv(memory(buffer), MPI.ANY_SOURCE if source is None else source, tag)
        return Message(self, "recv", buffer, request, done)

    # ---- groups

    def subset(self, ranks: Sequence[int], number: int) -> Backend:
        group = self._comm.Get_group()
        comm = self._comm.Create_group(group.Incl(list(ranks)), number)
        group.Free()
        return MpiBackend(comm, [self._ranks[r] for r in ranks], self._watch, self._timeout)

    def close(self) -> None:
        if self._thread is not None:
            self._calls.put(None)
            self._thread.join()
            self._thread = None
        self._comm.Free()


def patiently(done: Callable[[], bool], check: Callable[[], None]) -> None:
    """Waits until ``done()``: asks often at first, then more and more rarely. ``check()`` raises where that is in vain."""
    asked, pause, checked = 0, 2e-5, time.monotonic()
    while not done():
        asked += 1
        if asked < 200:
            continue
        time.sleep(pause)
        pause = min(2 * pause, 1e-3)
        if time.monotonic() - checked > 0.005:  # mpiexec leaves half a second to say who has died
            check()
            checked = time.monotonic()


class Message(Work):
    """A message under way: MPI is asked whether it has arrived, often at first, then more and more rarely."""

    def __init__(
        self, backend: MpiBackend, name: str, buffer: Tensor, request: Any, done: Callable[[], None] | None = None
    ) -> None:
        self._check = backend._watch.guard(name, backend._ranks, backend._timeout)
        super().__init__(Future(check=self._check))
        self._name, self._buffer, self._request, self._done, self._source = name, buffer, request, done, -1
        self._asking = threading.Lock()

    def _ask(self) -> bool:
        from mpi4py import MPI

        with self._asking:
            if self._future.done():
                return True
            status = MPI.Status()
            try:
                if not self._request.Test(status):
                    return False
                self._arrived(status)
            except MPI.Exception as error:
                self._future.set_exception(DistBackendError(f"{self._name}: MPI says: {error.Get_error_string()}"))
            except DistBackendError as error:
                self._future.set_exception(error)
            return True

    def _arrived(self, status: Any) -> None:
        if self._done is not None:
            self._source = status.source
            count = status.Get_count(element_type(self._buffer.dtype))
            if count != self._buffer.numel():
                raise DistBackendError(
                    f"recv: rank {self._source} sent {count} elements, got a tensor of {self._buffer.numel()}"
                )
            with no_grad():
                self._done()
        self._future.set_result([self._buffer])

    def is_completed(self) -> bool:
        return self._ask()

    def wait(self, timeout: Any = None) -> bool:
        patiently(self._ask, self._check)
        return super().wait()

    def get_future(self) -> Future[list[Tensor]]:
        raise RuntimeError(f"{self._name}: messages have no future, wait for the work itself")

    def source_rank(self) -> int:
        if self._done is None:
            return super().source_rank()
        return self._source
