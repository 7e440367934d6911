"""What tables, traces and comparisons know of a list of events; for types only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

Path: TypeAlias = str | os.PathLike[str]


class Events(Protocol):
    """Events or averages of events, as `EventList` has them."""

    def __iter__(self) -> Iterator[Any]: ...

    @property
    def self_cpu_time_total(self) -> float: ...

    @property
    def use_device(self) -> str | None: ...

    @property
    def has_memory(self) -> bool: ...
