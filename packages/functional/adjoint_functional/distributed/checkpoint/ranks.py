"""The ranks that save or load together; one, where there is no process group."""

from __future__ import annotations

from typing import Any


class Ranks:
    """The number of this rank, how many there are, and what all of them have."""

    def __init__(self, process_group: Any, alone: bool) -> None:
        self.group, self.rank, self.count = process_group, 0, 1
        if not alone:
            from .. import get_rank, get_world_size, is_initialized

            if is_initialized():
                self.rank, self.count = get_rank(process_group), get_world_size(process_group)

    def gather(self, obj: Any) -> list[Any]:
        """What each rank gave, on all ranks."""
        found: list[Any] = [obj] * self.count
        if self.count > 1:
            from .. import all_gather_object

            all_gather_object(found, obj, group=self.group)
        return found
