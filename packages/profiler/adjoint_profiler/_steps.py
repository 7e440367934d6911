"""Counting steps across the parts of a program, and keys that may come once."""

from __future__ import annotations

from typing import ClassVar


class EnforceUnique:
    """Raises when a key is seen for the second time.

    Example::

        >>> unique = EnforceUnique()
        >>> unique.see("a", 1)
        >>> unique.see("a", 1)
        Traceback (most recent call last):
        RuntimeError: duplicate key: ('a', 1)
    """

    def __init__(self) -> None:
        self.seen: set[tuple[object, ...]] = set()

    def see(self, *key: object) -> None:
        """Notes a key.

        Raises:
            RuntimeError: it was seen before.
        """
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)


class KinetoStepTracker:
    """The step of the program: the largest of the steps that its parts count.

    Example::

        >>> KinetoStepTracker.init_step_count("mine")
        >>> before = KinetoStepTracker.current_step()
        >>> KinetoStepTracker.increment_step("mine") - before
        1
        >>> KinetoStepTracker.erase_step_count("mine")
        True
    """

    _current: ClassVar[int] = 0
    _steps: ClassVar[dict[str, int]] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """`requester` begins to count, at the current step."""
        cls._steps[requester] = cls._current

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """`requester` counts no longer. Whether it did."""
        return cls._steps.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """`requester` has gone on by one step: the program's step after that."""
        if requester not in cls._steps:
            cls.init_step_count(requester)
        cls._steps[requester] += 1
        cls._current = max(cls._current, *cls._steps.values())
        return cls._current

    @classmethod
    def current_step(cls) -> int:
        """The program's step."""
        return cls._current
