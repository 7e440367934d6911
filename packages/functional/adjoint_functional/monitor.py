"""`monitor`: events of a program, and statistics of numbers over a window, for whoever registers to be told."""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

__all__ = [
    "Aggregation", "Event", "EventHandlerHandle", "Stat", "TensorboardEventHandler", "data_value_t", "log_event", "register_event_handler",
    "unregister_event_handler",
]  # fmt: skip

data_value_t = str | float | int | bool
STAT_EVENT = "torch.monitor.Stat"


class Event:
    """Something that happened: a name, when, and what is to be known of it.

    Raises:
        TypeError: a timestamp that is no `datetime`.
    """

    def __init__(self, name: str, timestamp: datetime.datetime, data: Mapping[str, data_value_t]) -> None:
        if not isinstance(timestamp, datetime.datetime):
            raise TypeError(f"Event: timestamp must be a datetime.datetime, got {type(timestamp).__name__}")
        self.name, self.timestamp, self.data = name, timestamp, dict(data)


class EventHandlerHandle:
    """What `register_event_handler` gives."""

    def __init__(self, handler: Callable[[Event], Any]) -> None:
        self._handler = handler


_handles: list[EventHandlerHandle] = []


def register_event_handler(callback: Callable[[Event], Any]) -> EventHandlerHandle:
    """Calls ``callback(event)`` for each event from now on.

    Example::

        >>> import datetime
        >>> from adjoint.monitor import Event, log_event, register_event_handler, unregister_event_handler
        >>> handle = register_event_handler(lambda event: print(event.name, event.data))
        >>> log_event(Event("epoch", datetime.datetime.now(), {"loss": 0.5}))
        epoch {'loss': 0.5}
        >>> unregister_event_handler(handle)
    """
    _handles.append(EventHandlerHandle(callback))
    return _handles[-1]


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """No longer calls it."""
    if handler in _handles:
        _handles.remove(handler)


def log_event(event: Event) -> None:
    """Tells the handlers of an event."""
    for handle in list(_handles):
        handle._handler(event)


class Aggregation(Enum):
    """What a `Stat` makes of the numbers of a window."""

    VALUE = 1
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation


def _aggregated(values: Sequence[float], kind: Aggregation) -> float:
    if not values:
        return 0.0
    total = math.fsum(values)
    found = {VALUE: values[-1], MEAN: total / len(values), COUNT: len(values), SUM: total, MAX: max(values), MIN: min(values)}
    return float(found[kind])


class Stat:
    """Statistics of numbers over windows of time, or of `max_samples` numbers, whichever ends first.

    At the end of a window an event of the name "torch.monitor.Stat" says what the numbers were, and `get` gives it until the next window ends.

    Example::

        >>> import datetime
        >>> from adjoint.monitor import Aggregation, Stat
        >>> loss = Stat("loss", [Aggregation.MEAN], datetime.timedelta(hours=1), 2)
        >>> loss.add(1.0)
        >>> loss.add(2.0)
        >>> loss.get()
        {<Aggregation.MEAN: 2>: 1.5}
    """

    def __init__(
        self, name: str, aggregations: Sequence[Aggregation], window_size: datetime.timedelta, max_samples: float = math.inf
    ) -> None:
        self.name, self._kinds, self._window, self._most = name, list(aggregations), window_size.total_seconds(), max_samples
        self._values: list[float] = []
        self._last: list[float] = []
        self._began = self._number()

    def _number(self) -> int:
        return int(time.time() / self._window)

    @property
    def count(self) -> int:
        """How many numbers the window has that has not ended."""
        self._end_window(False)
        return len(self._values)

    def _end_window(self, full: bool) -> None:
        number = self._number()
        if not full and number == self._began:
            return
        self._began, self._last, self._values = number, self._values, []
        if self._last:
            data = {f"{self.name}.{kind.name.lower()}": _aggregated(self._last, kind) for kind in self._kinds}
            log_event(Event(STAT_EVENT, datetime.datetime.now(), data))

    def add(self, v: float) -> None:
        """Adds a number."""
        self._end_window(False)
        self._values.append(float(v))
        if len(self._values) >= self._most:
            self._end_window(True)

    def get(self) -> dict[Aggregation, float]:
        """What the numbers of the last window were; 0 before the first has ended."""
        self._end_window(False)
        return {kind: _aggregated(self._last, kind) for kind in self._kinds}


class TensorboardEventHandler:
    """Writes the statistics of events to a `utils.tensorboard.SummaryWriter`."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())
