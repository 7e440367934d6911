"""A worker of `DataLoader`: a process that fetches batches and sends them back through a pipe."""

from __future__ import annotations

import os
import queue
import random
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from multiprocessing.reduction import ForkingPickler
from typing import Any

import adjoint_core as core
from adjoint_engine import Parameter

from ...multiprocessing.reductions import reduce_tensor
from .dataset import IterableDataset
from .fetch import Caught, Fetcher

__all__ = ["WorkerInfo", "get_worker_info"]

SMALL = 1 << 18  # bytes of a tensor
SECONDS_TO_NOTICE = 2.0  # how long a worker may outlive a parent that was killed


@dataclass
class WorkerInfo:
    """What `get_worker_info` tells: the worker's number, how many there are, the seed of its generators and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


@dataclass
class Job:
    """What a worker is started with."""

    info: WorkerInfo
    make_fetcher: Callable[[], Fetcher]
    init: Callable[[int], Any] | None
    base_seed: int


class Exhausted:
    """In place of a batch: the worker's copy of an iterable dataset has no more."""


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Of a worker of `DataLoader`: which one it is; elsewhere None.

    Example: ``IterableDataset.__iter__`` gives every n-th sample only, for n workers.
    """
    return _info


def _seed(job: Job) -> None:
    """Every worker draws numbers of its own, which the base seed determines."""
    seed = job.info.seed
    random.seed(seed)
    core.manual_seed(seed)
    if "numpy" in sys.modules:
        words = (job.base_seed & 0xFFFFFFFF, (job.base_seed >> 32) & 0xFFFFFFFF, job.info.id)
        sys.modules["numpy"].random.seed(words)


def _receive(pipe: connection.Connection, tasks: queue.SimpleQueue[Any], parent: int) -> None:
    """Takes orders off the pipe, so that the parent never waits to give one, and ends the process with its parent.

    Siblings that were forked later hold copies of the pipes' other ends, so that their end alone proves nothing: the parent's id does.
    """
    born_of = parent_process()
    assert born_of is not None
    watched: list[Any] = [pipe, born_of.sentinel]
    while True:
        ready = connection.wait(watched, SECONDS_TO_NOTICE)
        if pipe in ready:
            try:
                order = pipe.recv()
            except (EOFError, OSError):
                os._exit(0)
            tasks.put(order)
            if order is None:
                return
        elif ready or os.getppid() != parent:
            os._exit(1)


def _send(pipe: connection.Connection, answers: queue.SimpleQueue[Any]) -> None:
    """Puts answers on the pipe, so that the next batch is fetched while the parent is busy."""
    while (answer := answers.get()) is not None:
        try:
            pipe.send_bytes(answer)
        except OSError:  # nobody listens any more
            os._exit(0)


def _reduced(x: Any) -> Any:
    """Large tensors go as handles of memory that the parent maps; small ones are sooner copied."""
    return reduce_tensor(x) if x.nbytes >= SMALL else x.__reduce_ex__(5)


def _pickled(number: int, answer: Any, where: str) -> Any:
    try:
        return ForkingPickler.dumps((number, answer), 5)
    except Exception:
        return ForkingPickler.dumps((number, Caught(where)), 5)


def run(job: Job, pipe: connection.Connection) -> None:
    """The worker's life: one answer to each order ``(number, index)``. A number of -1 begins an epoch; None ends it all."""
    global _info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C goes to all: the parent says what becomes of its workers
    core.set_num_threads(1)
    for kind in (core.Tensor, Parameter):
        ForkingPickler.register(kind, _reduced)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, tasks, os.getppid()), daemon=True).start()
    sender = threading.Thread(target=_send, args=(pipe, answers), daemon=True)
    sender.start()
    _info = job.info
    _seed(job)
    where = f"in DataLoader worker process {job.info.id}"
    failed: Caught | None = None
    fetcher: Fetcher | None = None
    try:
        if job.init is not None:
            job.init(job.info.id)
    except Exception:
        failed = Caught(where)
    while (order := tasks.get()) is not None:
        number, index = order
        if number < 0:
            fetcher = None
            continue
        answer: Any = failed
        if failed is None:
            try:
                fetcher = fetcher or job.make_fetcher()
                answer = fetcher(index)
            except Exception as error:
                over = isinstance(error, StopIteration) and isinstance(job.info.dataset, IterableDataset)
                answer = Exhausted() if over else Caught(where)
        answers.put(_pickled(number, answer, where))
        del answer  # the parent's copy is the only one
    answers.put(None)
    sender.join(timeout=1)
