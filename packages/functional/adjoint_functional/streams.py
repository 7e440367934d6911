"""`Stream` and `Event` of whatever device: queues of work, and moments in them."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import adjoint_core as core

__all__ = ["Event", "Stream"]


class Stream:
    """A queue of work of a device. The CPU's has nothing to wait for; a GPU's is a `cuda.Stream`.

    Arguments:
        device: the CPU if nothing is said.
        priority: that of a GPU's queue.

    Example::

        >>> with ad.Stream("cpu") as stream:
        ...     stream.synchronize()
        >>> stream.query()
        True
    """

    device_type = 0
    device_index = -1
    stream_id = 0

    def __new__(cls, device: core.device | str | int | None = None, *, priority: int = 0) -> Any:
        """A queue of the device."""
        place = core.device("cpu" if device is None else device)
        return core.cuda.Stream(place, priority) if place.type == "cuda" else super().__new__(cls)

    @property
    def device(self) -> core.device:
        """Whose queue it is."""
        return core.device("cpu")

    def query(self) -> bool:
        """Whether all is done: yes."""
        return True

    def synchronize(self) -> None:
        """Returns: all is done."""

    def wait_event(self, event: Any) -> None:
        """Returns: it is past."""

    def wait_stream(self, stream: Any) -> None:
        """Returns: all is done."""

    def record_event(self, event: Any = None) -> Event:
        """An event in this queue.

        Raises:
            RuntimeError: the CPU has none.
        """
        event = Event() if event is None else event
        event.record(self)
        return event  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def __repr__(self) -> str:
        return f"{core._core._library()}.Stream device_type=cpu, device_index=-1, stream_id=0"


class Event:
    """A moment in a queue of work. The CPU records none; a GPU's is a `cuda.Event`.

    Arguments:
        device: the CPU if nothing is said.
        enable_timing: whether it tells the time between two.
        blocking: whether waiting for it gives up the processor.
        interprocess: whether other processes can wait for it.

    Example::

        >>> ad.Event("cpu").query()
        True
    """

    event_id = 0

    def __new__(
        cls,
        device: core.device | str | int | None = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> Any:
        """A moment in a queue of the device."""
        place = core.device("cpu" if device is None else device)
        if place.type == "cuda":
            return core.cuda.Event(enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)
        return super().__new__(cls)

    @property
    def device(self) -> core.device:
        """In whose queue it is."""
        return core.device("cpu")

    def record(self, stream: Any = None) -> None:
        """Puts it into a queue.

        Raises:
            RuntimeError: the CPU has none.
        """
        raise RuntimeError("cpu backend doesn't support events.")

    def query(self) -> bool:
        """Whether it is past: yes."""
        return True

    def synchronize(self) -> None:
        """Returns: it is past."""

    def wait(self, stream: Any = None) -> None:
        """Returns: it is past."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from this event to another.

        Raises:
            ValueError: the CPU records none.
        """
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def __repr__(self) -> str:
        return f"{core._core._library()}.Event device_type=cpu, device_index=-1, event_flag=0, event_id=0"
