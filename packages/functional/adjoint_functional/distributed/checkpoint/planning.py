"""Which rank writes what: each piece once, and as many bytes on each rank as can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adjoint_core import Tensor

from .shard import Shard


@dataclass(frozen=True)
class Offer:
    """A piece that a rank could write: `dtype` and `size` of its tensor are None and () for anything but a tensor."""

    dtype: str | None
    size: tuple[int, ...]
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    nbytes: int


def offer_of(value: Any) -> Offer:
    """What a rank says of a value before it is decided who writes it."""
    if isinstance(value, Shard):
        t, offsets, size = value.tensor, value.offsets, value.size
    elif isinstance(value, Tensor):
        t, offsets, size = value, (0,) * value.ndim, tuple(value.shape)
    else:
        return Offer(None, (), (), (), 0)
    return Offer(t.dtype.name, size, offsets, tuple(t.shape), t.numel() * t.element_size())


def share_out(offers: list[Mapping[str, Offer]]) -> list[list[str]]:
    """The names that each rank writes, given what each offers: all ranks come to the same.

    Raises:
        ValueError: ranks have tensors of other types or shapes under one name, or parts that do not make up the whole.
    """
    candidates: dict[str, dict[Offer, list[int]]] = {}
    for rank, mine in enumerate(offers):
        for name, offer in mine.items():
            candidates.setdefault(name, {}).setdefault(offer, []).append(rank)
    for name, found in candidates.items():
        _check(name, found)
    load = [0] * len(offers)
    chosen: list[list[str]] = [[] for _ in offers]
    for name, found in candidates.items():
        for offer, ranks in found.items():
            rank = min(ranks, key=lambda r: (load[r], r))
            load[rank] += offer.nbytes
            chosen[rank].append(name)
    return chosen


def _check(name: str, found: Mapping[Offer, list[int]]) -> None:
    kinds = {(offer.dtype, offer.size): ranks[0] for offer, ranks in found.items()}
    if len(kinds) > 1:
        (a, of_a), (b, of_b) = list(kinds.items())[:2]
        raise ValueError(
            f"checkpoint: {name!r} is {a[0]} of shape {a[1]} on rank {of_a}, and {b[0]} of shape {b[1]} on rank {of_b}"
        )
    whole = math.prod(next(iter(found)).size)
    parts = sum(math.prod(offer.sizes) for offer in found)
    if parts != whole:
        raise ValueError(f"checkpoint: the parts of {name!r} have {parts} elements, the whole has {whole}")
