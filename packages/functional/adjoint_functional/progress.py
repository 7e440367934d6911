"""`hub.tqdm`: the bar of the package `tqdm` where that is installed, else a line of percents."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["Percents", "tqdm"]


class Percents:
    """Prints how much of the work is done, on one line of the standard error.

    Arguments:
        iterable: what is gone through, or None: `update` is called.
        total: how many steps there are; None: only their number is printed.
        disable: print nothing.

    Example::

        >>> sum(Percents([1, 2, 3], disable=True))
        6
    """

    def __init__(
        self, iterable: Iterable[Any] | None = None, total: float | None = None, disable: bool = False, **other: Any
    ) -> None:
        self.iterable, self.disable, self.n = iterable, disable, 0.0
        self.total = len(iterable) if total is None and hasattr(iterable, "__len__") else total  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        with self:
            for item in self.iterable if self.iterable is not None else ():
                yield item
                self.update(1)

    def update(self, n: float = 1) -> None:
        """`n` more steps are done."""
        self.n += n
        if not self.disable:
            sys.stderr.write(f"\r{100 * self.n / self.total:.1f}%" if self.total else f"\r{self.n:g}")
            sys.stderr.flush()

    def set_description(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: percents have none."""

    def close(self) -> None:
        """Ends the line."""
        if not self.disable:
            sys.stderr.write("\n")
        self.disable = True

    def __enter__(self) -> Percents:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


tqdm: Any = Percents if importlib.util.find_spec("tqdm") is None else importlib.import_module("tqdm").tqdm
