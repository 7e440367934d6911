"""The order of collectives on GPUs: what a second backend, NCCL, needs beside its calls.

Collectives of a group run on a stream of their own, so that they go on while the current stream computes. What the current stream holds
when a collective is submitted comes before it (the communication stream waits for an event), and what is put on a stream after
``Work.wait()`` comes after it. The host never waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, cuda

from ..futures import Future
from ._backend import Work


class StreamFuture(Future[Any]):
    """A future whose value is there at once, on a stream: ``wait`` makes the current stream wait, ``then`` goes on on that stream."""

    def __init__(self, stream: cuda.Stream, value: Any) -> None:
        super().__init__()
        self._stream, self.event = stream, stream.record_event()
        self.set_result(value)

    def wait(self) -> Any:
        self.event.wait(cuda.current_stream(self._stream.device))
        return self.value()

    def then(self, callback: Callable[[Future[Any]], Any]) -> Future[Any]:
        with self._stream:
            return StreamFuture(self._stream, callback(self))


class StreamWork(Work):
    """A collective on a stream."""

    def is_completed(self) -> bool:
        """Whether the GPU has done it."""
        assert isinstance(self._future, StreamFuture)
        return self._future.event.query()


class StreamOrder:
    """Puts the calls of one group on one stream: the ``submit`` of a backend for GPUs.

    Arguments:
        device: which GPU.
    """

    def __init__(self, device: Any) -> None:
        self.stream = cuda.Stream(device)

    def submit(self, name: str, call: Callable[[], list[Tensor]]) -> Work:
        """Runs ``call``, whose launches go on the communication stream, behind what the current stream holds."""
        self.stream.wait_stream(cuda.current_stream(self.stream.device))
        with self.stream:
            written = call()
        return StreamWork(StreamFuture(self.stream, written))
