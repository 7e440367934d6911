"""Datasets: what has samples at positions, what gives samples one after another, and how such things are joined and cut."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import adjoint_core as core
from adjoint_core import Tensor

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset", "random_split",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """What has a sample at each position: a subclass defines ``__getitem__``, and ``__len__`` where samplers need it.

    ``__getitems__(indices)``, if a subclass has it, gives a whole batch as a list. ``a + b`` is both, one after the other.

    Example::

        >>> class Squares(ad.utils.data.Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, i):
        ...         return i * i
        >>> [batch.tolist() for batch in ad.utils.data.DataLoader(Squares(), batch_size=3)]
        [[0, 1, 4], [9]]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """What gives samples one after another: a subclass defines ``__iter__``.

    With several workers each iterates over a copy of its own: ``get_worker_info`` says which part is whose.

    Example::

        >>> class Squares(ad.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter([0, 1, 4])
        >>> list(ad.utils.data.DataLoader(Squares(), batch_size=2))
        [tensor([0, 1]), tensor([4])]
    """

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples are tuples of what the tensors hold at one position of their first dimension.

    Arguments:
        tensors: of shape ``(n, ...)`` each, with one n.

    Example::

        >>> data = ad.utils.data.TensorDataset(ad.arange(6.0).view(3, 2), ad.tensor([0, 1, 0]))
        >>> len(data), data[1]
        (3, (tensor([2., 3.]), tensor(1)))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Samples are tuples, or dicts, of the samples of several datasets at one position.

    Example::

        >>> data = ad.utils.data.StackDataset(x=[1, 2], y=["a", "b"])
        >>> data[1]
        {'x': 2, 'y': 'b'}
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both types are given.")  # fmt: skip
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        parts = args or tuple(kwargs.values())
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [_several(part, indices) for part in self.datasets.values()]
            return [dict(zip(self.datasets, row)) for row in zip(*columns)]
        return list(zip(*(_several(part, indices) for part in self.datasets)))

    def __len__(self) -> int:
        return self._length


def _several(dataset: Any, indices: Sequence[Any]) -> Sequence[Any]:
    """The samples at some positions, with the dataset's own method for that if it has one."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    samples = dataset.__getitems__(indices)
    if len(samples) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}")
    return samples


class ConcatDataset(Dataset[T_co]):
    """Several datasets, one after the other.

    Example::

        >>> both = ad.utils.data.ConcatDataset([[1, 2], [3]])
        >>> len(both), both[2], both[-1], both.cumulative_sizes
        (3, 3, 3, [2, 3])
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """How long the first, the first two, ... are together."""
        return list(itertools.accumulate(len(part) for part in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """An old spelling of ``cumulative_sizes``."""
        warnings.warn("cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Several iterable datasets, one after the other.

    Example::

        >>> class Count(ad.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter([0, 1])
        >>> list(ad.utils.data.ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield part

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self._parts())

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts())


class Subset(Dataset[T_co]):
    """The samples of a dataset at some positions.

    Example::

        >>> ad.utils.data.Subset("abcd", [3, 0])[0]
        'd'
    """

    def __init__(self, dataset: Any, indices: Sequence[Any]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> T_co:
        return self.dataset[[self.indices[i] for i in idx] if isinstance(idx, list) else self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return list(_several(self.dataset, [self.indices[i] for i in indices]))

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int | float], generator: core.Generator | None = None) -> list[Subset[Any]]:
    """Cuts a dataset into parts at random, without overlap.

    Arguments:
        lengths: how many samples each part gets; or fractions with sum 1: what is left over goes to the first parts, one each.
        generator: of random numbers; None: the default one.

    Raises:
        ValueError: the lengths do not add up, or a fraction is not in [0, 1].

    Example::

        >>> [len(part) for part in ad.utils.data.random_split(range(10), [0.25, 0.75])]
        [3, 7]
    """
    if math.isclose(sum(lengths), 1):
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes = [math.floor(len(dataset) * fraction) for fraction in lengths]
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, size in enumerate(sizes):
            if size == 0:
                warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2)
        lengths = sizes
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = core.randperm(len(dataset), generator=core.default_generator if generator is None else generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths)]
