"""`jit.annotations`: what stands in annotations of functions that PyTorch can compile to scripts."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "BroadcastingList4", "BroadcastingList5", "BroadcastingList6", "Dict", "List",
    "Optional", "Tuple", "Union",
]  # fmt: skip


class _NumberOrList:
    """``BroadcastingList2[int]``: a list of two numbers, or one that stands for both."""

    def __getitem__(self, kind: type) -> Any:
        return kind | list[kind]  # type: ignore[valid-type]


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = (
    _NumberOrList()
)


class DeviceObjType:
    """What annotations call a device in PyTorch's scripts; nothing is an instance."""


def _copy_to_script_wrapper(fn: Any) -> Any:
    """A mark for PyTorch's script compiler: here the function itself."""
    return fn
