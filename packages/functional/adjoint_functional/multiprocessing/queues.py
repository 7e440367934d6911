"""Queues of `multiprocessing` whose messages carry the memory of their tensors."""

from __future__ import annotations

from multiprocessing import queues
from typing import Any

from .envelope import Parcel, pair


class _Carrying:
    """A queue over a connection that carries descriptors. `put` pickles at once: what cannot be sent raises there."""

    def __init__(self, *args: Any, ctx: Any) -> None:
        super().__init__(*args, ctx=ctx)
        for end in (self._reader, self._writer):
            end.close()
        self._reader, self._writer = pair(duplex=False)
        self._send_bytes, self._recv_bytes, self._poll = self._writer.send_bytes, self._reader.recv_bytes, self._reader.poll

    def put(self, obj: Any, *args: Any, **kwargs: Any) -> None:
        """Sends an object; the arguments are those of `multiprocessing`."""
        super().put(Parcel(obj), *args, **kwargs)  # type: ignore[misc]


class Queue(_Carrying, queues.Queue):  # type: ignore[type-arg]
    """`multiprocessing.Queue`. A tensor moves to shared memory when it is put, and is not copied.

    Raises:
        RuntimeError: from `put`: a tensor that has a history.
    """


class JoinableQueue(_Carrying, queues.JoinableQueue):  # type: ignore[type-arg]
    """`multiprocessing.JoinableQueue`; tensors travel as in `Queue`."""


class SimpleQueue(_Carrying, queues.SimpleQueue):  # type: ignore[type-arg]
    """`multiprocessing.SimpleQueue`; tensors travel as in `Queue`."""
