"""DistributedSampler: each rank visits its part of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

import adjoint_core as core

from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The positions of a dataset that belong to one rank: every ``num_replicas``-th, of all of them or of a shuffled order.

    All ranks get the same number: the first positions are repeated, or, with ``drop_last``, the last left out. Call `set_epoch`
    before each epoch, or every epoch has the same order.

    Arguments:
        dataset: with a length.
        num_replicas, rank: how many parts, and which; of the world.
        shuffle: by ``seed`` and the epoch; the same on all ranks.

    Raises:
        ValueError: a rank that there is not.

    Example::

        >>> from adjoint.utils.data import DistributedSampler
        >>> list(DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        from ... import distributed as dist

        self.dataset, self.shuffle, self.seed, self.drop_last, self.epoch = dataset, shuffle, seed, drop_last, 0
        self.num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        self.rank = dist.get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(f"Invalid rank {self.rank}, rank should be in the interval [0, {self.num_replicas - 1}]")
        length = len(dataset)
        self.num_samples = length // self.num_replicas if drop_last else math.ceil(length / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        length = len(self.dataset)
        order = list(range(length))
        if self.shuffle:
            generator = core.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = core.randperm(length, generator=generator).tolist()
        if order and not self.drop_last:
            order = (order * math.ceil(self.total_size / length))[: self.total_size]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffles otherwise from now on."""
        self.epoch = epoch
