"""Samplers: in which order the samples of a dataset are visited, and in which batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import adjoint_core as core
from adjoint_core import Generator

from ...sampling import multinomial

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)


def new_seed(generator: Generator | None = None) -> int:
    """A seed from a generator; None: from the default one, so that ``manual_seed`` says what follows."""
    return int(core.empty((), dtype=core.int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """What gives positions of a dataset, or lists of them: a subclass defines ``__iter__``, and ``__len__`` if it is known.

    Example::

        >>> class Backwards(ad.utils.data.Sampler):
        ...     def __iter__(self):
        ...         return iter([2, 1, 0])
        >>> list(ad.utils.data.DataLoader([10, 20, 30], sampler=Backwards(), batch_size=None))
        [30, 20, 10]
    """

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__}: __iter__ is missing")


class SequentialSampler(Sampler[int]):
    """All positions, in order.

    Example::

        >>> list(ad.utils.data.SequentialSampler('abc'))
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Positions at random: a permutation, or independent draws.

    Arguments:
        replacement: draws are independent.
        num_samples: how many; None: as many as there are samples. More than that: one permutation after another.
        generator: of random numbers; None: one with a seed from the default generator.

    Example::

        >>> sorted(ad.utils.data.RandomSampler(range(4)))
        [0, 1, 2, 3]
        >>> len(list(ad.utils.data.RandomSampler(range(4), replacement=True, num_samples=9)))
        9
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self._num_samples, self.generator = data_source, replacement, num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """How many positions an iteration gives; of a dataset that grows, as many as it has now."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(new_seed())
        left = self.num_samples
        while n > 0 and (left > 0 or not self.replacement):
            if self.replacement:  # 32 at a time: neither a call for each nor all in memory
                some = core.randint(high=n, size=(min(left, 32),), dtype=core.int64, generator=generator).tolist()
            else:
                some = core.randperm(n, generator=generator).tolist()[:left]
            yield from some
            if len(some) < n and not self.replacement:  # an order is drawn even if nothing is left of it, as in PyTorch
                return
            left -= len(some)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The positions given, in random order.

    Example::

        >>> sorted(ad.utils.data.SubsetRandomSampler([5, 7]))
        [5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in core.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Positions drawn with probabilities in proportion to weights.

    Arguments:
        weights: of shape ``(n,)``, not negative; they need not have sum 1.
        num_samples: how many positions an iteration gives.
        replacement: a position can come more than once.

    Example::

        >>> list(ad.utils.data.WeightedRandomSampler([0.0, 1.0, 0.0], 3))
        [1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Generator | None = None) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = core.as_tensor(weights, dtype=core.float64)
        if self.weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of what another sampler gives.

    Arguments:
        sampler: any iterable of positions.
        batch_size: how many a list holds.
        drop_last: leaves a shorter last list out.

    Example::

        >>> list(ad.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        positions = iter(self.sampler)
        while batch := list(itertools.islice(positions, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size
