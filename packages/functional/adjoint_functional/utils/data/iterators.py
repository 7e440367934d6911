"""One pass over a `DataLoader`: in this process, or with workers."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._warnings import warn

from .fetch import Caught, Fetcher
from .processes import Workers
from .sampler import new_seed
from .worker import Exhausted, Job, WorkerInfo

__all__ = ["Pass", "SingleProcessPass", "WorkersPass"]


def pinned(data: Any) -> Any:
    """The same with every tensor in pinned memory, from which copies to a GPU run beside other work."""
    if isinstance(data, Tensor):
        return data.pin_memory()
    if callable(getattr(data, "pin_memory", None)):
        return data.pin_memory()
    if isinstance(data, dict):
        return type(data)({key: pinned(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(pinned, data))
    if isinstance(data, (list, tuple)):
        return type(data)(pinned(d) for d in data)
    return data


class Pass(Iterator[Any]):
    """What `iter(loader)` gives."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._base_seed = new_seed(loader.generator)
        self._pins = loader.pin_memory and core.cuda.is_available()
        if loader.pin_memory and not self._pins:
            warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.")
        self._begin()

    def _begin(self) -> None:
        self._indices = iter(self._loader._index_sampler)
        self._num_yielded = 0
        self._said = len(self._loader) if self._loader._length_told is not None else None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        batch = self._next()
        self._num_yielded += 1
        if self._said is not None and self._num_yielded > self._said:
            text = (
                f"Length of IterableDataset {self._loader.dataset} was reported to be {self._said} (when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched."
            )
            if self._loader.num_workers > 0:
                text += " Each worker gives all samples of its copy: get_worker_info says which part is whose."
            warnings.warn(text, stacklevel=2)
        return pinned(batch) if self._pins else batch

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def _next(self) -> Any:
        raise NotImplementedError


class SingleProcessPass(Pass):
    """Fetches each batch when it is asked for."""

    def _begin(self) -> None:
        super()._begin()
        self._fetch = self._loader._fetcher()

    def _next(self) -> Any:
        return self._fetch(next(self._indices))


class WorkersPass(Pass):
    """Keeps every worker busy with ``prefetch_factor`` batches ahead, and gives them out in order."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        make = partial(Fetcher, *loader._fetcher_arguments())
        count = loader.num_workers
        infos = [WorkerInfo(i, count, self._base_seed + i, loader.dataset) for i in range(count)]
        jobs = [Job(info, make, loader.worker_init_fn, self._base_seed) for info in infos]
        self._numbers = itertools.count()
        self._workers = Workers(loader._context(), jobs)
        # The iterator may be dropped anywhere, and at exit no method of it runs: the processes' end hangs on nothing else.
        self._end = weakref.finalize(self, self._workers.end)
        self._prime()

    @property
    def alive(self) -> bool:
        """Whether there are workers for another pass."""
        return self._end.alive

    def again(self) -> None:
        """A new pass with the same workers; what was asked for before is thrown away when it comes."""
        self._begin()
        for worker in range(self._loader.num_workers):
            self._workers.order(worker, -1, None)
        self._prime()

    def _prime(self) -> None:
        self._asked: dict[int, int] = {}  # number -> worker, of what is still wanted, oldest first
        self._came: dict[int, Any] = {}
        self._at_work = list(range(self._loader.num_workers))
        self._turn = 0
        for _ in range((self._loader.prefetch_factor or 0) * self._loader.num_workers):
            self._ask()

    def _ask(self) -> None:
        """Orders one more batch, if there is one and a worker for it."""
        worker = self._free_worker()
        if worker is None:
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        number = next(self._numbers)
        self._asked[number] = worker
        self._workers.order(worker, number, index)

    def _free_worker(self) -> int | None:
        if not self._at_work:
            return None
        if self._loader.in_order:
            self._turn += 1
            return self._at_work[(self._turn - 1) % len(self._at_work)]
        load = dict.fromkeys(self._at_work, 0)
        for number, worker in self._asked.items():
            if worker in load and number not in self._came:
                load[worker] += 1
        return min(load, key=lambda worker: load[worker])

    def _next(self) -> Any:
        try:
            while True:
                number = self._ready()
                if number is None:
                    raise StopIteration
                answer = self._came.pop(number)
                del self._asked[number]
                self._ask()
                if isinstance(answer, Caught):
                    answer.reraise()
                if not isinstance(answer, Exhausted):
                    return answer
        except BaseException as error:
            ended = isinstance(error, StopIteration) and self._loader.persistent_workers
            if not ended and not self._goes_on(error):
                self._end()
            raise

    def _goes_on(self, error: BaseException) -> bool:
        """After an exception of the dataset or a timeout the next batch can still be asked for; not after the death of a worker."""
        alive = all(process.is_alive() for process in self._workers.processes)
        return alive and isinstance(error, Exception) and not isinstance(error, StopIteration)

    def _ready(self) -> int | None:
        """The number of an answer that has come; None if nothing is asked for."""
        while self._asked:
            if self._loader.in_order:
                number = next(iter(self._asked))
                if number in self._came:
                    return number
            elif self._came:
                return next(iter(self._came))
            for worker, came, answer in self._workers.answers(self._loader.timeout):
                if came in self._asked:
                    self._came[came] = answer
                if isinstance(answer, Exhausted) and came in self._asked and worker in self._at_work:
                    self._at_work.remove(worker)
        return None
