"""Contexts of `multiprocessing` whose queues and pipes carry tensors."""

from __future__ import annotations

import multiprocessing
from multiprocessing import context
from typing import Any

from . import envelope, queues


class _Carrying:
    """What a context makes in place of `multiprocessing`'s own."""

    def Queue(self, maxsize: int = 0) -> queues.Queue:  # noqa: N802
        """A queue for any number of processes, bounded by `maxsize` if that is not 0."""
        return queues.Queue(maxsize, ctx=self)

    def JoinableQueue(self, maxsize: int = 0) -> queues.JoinableQueue:  # noqa: N802
        """A queue that can be joined until each of its tasks is done."""
        return queues.JoinableQueue(maxsize, ctx=self)

    def SimpleQueue(self) -> queues.SimpleQueue:  # noqa: N802
        """A queue without a thread: `put` waits while the connection is full."""
        return queues.SimpleQueue(ctx=self)

    def Pipe(self, duplex: bool = True) -> tuple[envelope.Connection, envelope.Connection]:  # noqa: N802
        """Two connected ends; without `duplex` the first only reads, the second only writes."""
        return envelope.pair(duplex)


class ForkContext(_Carrying, context.ForkContext):
    """Children are copies of this process; the threads of the kernels are made anew in them."""


class SpawnContext(_Carrying, context.SpawnContext):
    """Children are new interpreters."""


class ForkServerContext(_Carrying, context.ForkServerContext):
    """Children are copies of a server that was started early."""


_CONTEXTS = {"fork": ForkContext(), "spawn": SpawnContext(), "forkserver": ForkServerContext()}


def get_context(method: str | None = None) -> Any:
    """The context of a start method, "fork", "spawn" or "forkserver"; the default one if none is named.

    Raises:
        ValueError: there is no such method here.

    Example::

        >>> queue = ad.multiprocessing.get_context("spawn").SimpleQueue()
        >>> queue.put(ad.ones(2))
        >>> queue.get()
        tensor([1., 1.])
    """
    multiprocessing.get_context(method)  # raises for those that the system lacks
    return _CONTEXTS[multiprocessing.get_start_method() if method is None else method]
