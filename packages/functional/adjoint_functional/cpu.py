"""The CPU as a device, for code that is written for any: the namespace ``cpu``. There is one, and nothing to wait for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import adjoint_core as core

__all__ = [
    "Event", "Stream", "current_device", "current_stream", "device_count", "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """A queue of work of a device that has none: what is asked for is done at once."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Returns: all is done."""

    def record_event(self, event: Any = None) -> Event:
        """An event that is past."""
        return Event() if event is None else event

    def wait_event(self, event: Any) -> None:
        """Returns: it is past."""


class Event:
    """A moment in such a queue, which is past."""

    def query(self) -> bool:
        """Whether it is past: yes."""
        return True

    def record(self, stream: Any = None) -> None:
        """Returns."""

    def synchronize(self) -> None:
        """Returns: it is past."""

    def wait(self, stream: Any = None) -> None:
        """Returns: it is past."""


def is_available() -> bool:
    """True.

    Example::

        >>> ad.cpu.is_available()
        True
    """
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: core.device | str | int) -> None:
    """Returns: there is one."""


def synchronize(device: core.device | str | int | None = None) -> None:
    """Returns: what was called is done."""


def current_stream(device: core.device | str | int | None = None) -> Stream:
    """The queue."""
    return Stream()


def stream(stream: Stream) -> AbstractContextManager[Any]:
    """A context that changes nothing."""
    return nullcontext(stream)
