"""From positions to a batch: the same code where the loop runs and in its workers."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

from .dataset import IterableDataset

__all__ = ["Caught", "Fetcher"]


class Fetcher:
    """Takes samples out of a dataset and makes batches of them.

    Arguments:
        batched: positions come as lists; else one position at a time, and ``collate`` gets one sample.
        collate: makes a batch from a list of samples.
        drop_last: of an iterable dataset, leaves a shorter last batch out.
    """

    def __init__(self, dataset: Any, batched: bool, collate: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset, self.batched, self.collate, self.drop_last = dataset, batched, collate, drop_last
        self.stream = iter(dataset) if isinstance(dataset, IterableDataset) else None
        self.ended = False

    def __call__(self, index: Any) -> Any:
        """The batch at some positions; of an iterable dataset the next one, of as many samples.

        Raises:
            StopIteration: an iterable dataset has no more.
        """
        if not self.batched:
            return self.collate(self.dataset[index] if self.stream is None else next(self.stream))
        return self.collate(self._samples(index) if self.stream is None else self._next_samples(len(index)))

    def _samples(self, indices: list[Any]) -> list[Any]:
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(indices)
        return [self.dataset[i] for i in indices]

    def _next_samples(self, count: int) -> list[Any]:
        samples: list[Any] = []
        if self.ended or self.stream is None:
            raise StopIteration
        for _ in range(count):
            try:
                samples.append(next(self.stream))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < count):
            raise StopIteration
        return samples


class Caught:
    """An exception as it travels: its type, and its traceback as text (frames do not leave a process)."""

    def __init__(self, where: str) -> None:
        kind, _, _ = sys.exc_info()
        self.kind = RuntimeError if kind is None else kind
        self.text = f"Caught {self.kind.__name__} {where}.\nOriginal {traceback.format_exc()}"

    def reraise(self) -> None:
        """Raises an exception of that type that tells all of it; a RuntimeError if the type takes more than a text."""
        if self.kind is KeyError:  # it would show the text with \\n for line ends
            raise KeyError(_Lines(self.text))
        try:
            error = self.kind(self.text)
        except Exception:
            raise RuntimeError(self.text) from None
        raise error


class _Lines(str):
    def __repr__(self) -> str:
        return str(self)
