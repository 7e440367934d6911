"""DataLoader: batches of a dataset, made here or by worker processes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from adjoint_core import Generator
from adjoint_core._warnings import warn

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetch import Fetcher
from .iterators import Pass, SingleProcessPass, WorkersPass
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .worker import get_worker_info as get_worker_info

__all__ = ["DataLoader"]

T_co = TypeVar("T_co", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]  # noqa: N816
_BaseDataLoaderIter, _SingleProcessDataLoaderIter, _MultiProcessingDataLoaderIter = Pass, SingleProcessPass, WorkersPass
FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler:
    """The sampler of iterable datasets: they have no positions."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Batches of a dataset.

    Arguments:
        dataset: a `Dataset`, an `IterableDataset`, or any sequence.
        batch_size: samples to a batch; None: no batches, the samples themselves.
        shuffle: a new random order at each pass.
        sampler: gives the positions instead.
        batch_sampler: gives lists of positions instead.
        num_workers: how many processes fetch; 0: this one does.
        collate_fn: makes a batch from a list of samples; `default_collate` if None.
        pin_memory: batches lie in pinned memory, if there is a GPU.
        drop_last: leaves a shorter last batch out.
        timeout: seconds to wait for a worker's batch; 0: as long as it takes.
        worker_init_fn: called in each worker with its number, first.
        multiprocessing_context: how processes are started: a name or a context.
        generator: of the random order and of the workers' seeds; None: the default one.
        prefetch_factor: batches that each worker is ahead; 2 if None.
        persistent_workers: keeps the workers from one pass to the next.
        in_order: batches come in the order of their positions; else as they are ready.

    Every worker has its own random numbers: its seed (see `get_worker_info`) is the pass's base seed, drawn from `generator`, plus
    its number; `random`, NumPy's global generator and adjoint's start from it. An exception of the dataset is raised here, with its
    traceback in the text; the next batch can still be asked for. Workers end with the pass, with the iterator, and with this process,
    also if it is killed.

    Raises:
        ValueError: options that exclude each other, or a number out of range.
        RuntimeError: while iterating: a worker died or took longer than ``timeout``.

    Example::

        >>> data = ad.utils.data.TensorDataset(ad.arange(5.0), ad.arange(5))
        >>> for x, y in ad.utils.data.DataLoader(data, batch_size=3):
        ...     print(x, y)
        tensor([0., 1., 2.]) tensor([0, 1, 2])
        tensor([3., 4.]) tensor([3, 4])
    """

    dataset: Any
    batch_size: int | None
    sampler: Any
    _initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.worker_init_fn, self.in_order, self.generator = worker_init_fn, in_order, generator
        self.persistent_workers = persistent_workers
        self.multiprocessing_context = multiprocessing_context
        if isinstance(dataset, IterableDataset):
            _check_stream(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if isinstance(dataset, IterableDataset):
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = batch_size, drop_last, sampler, batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._iterator: Pass | None = None
        self._length_told: int | None = None
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Pass:
        if not self.num_workers:
            return SingleProcessPass(self)
        if not self.persistent_workers:
            return WorkersPass(self)
        if isinstance(self._iterator, WorkersPass) and self._iterator.alive:
            self._iterator.again()
        else:
            self._iterator = WorkersPass(self)
        return self._iterator

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = self._length_told = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is not None:
            length = length // self.batch_size if self.drop_last else -(-length // self.batch_size)
        return length

    @property
    def multiprocessing_context(self) -> Any:
        """How the workers are started."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            context = _checked_context(context, self.num_workers)
        self._multiprocessing_context = context

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    def _fetcher_arguments(self) -> tuple[Any, ...]:
        return self.dataset, self._auto_collation, self.collate_fn, self.drop_last

    def _fetcher(self) -> Fetcher:
        return Fetcher(*self._fetcher_arguments())

    def _context(self) -> Any:
        return multiprocessing if self._multiprocessing_context is None else self._multiprocessing_context


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if num_workers > (
        most := len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or num_workers
    ):
        warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number of worker in current system is "
            f"{most}, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get "
            "DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze if necessary."
        )


def _check_stream(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")


def _checked_context(context: Any, num_workers: int) -> Any:
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
            f"but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        valid = multiprocessing.get_all_start_methods()
        if context not in valid:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {valid!r}, "
                f"but got multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context
