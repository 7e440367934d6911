"""Warnings at the line of the user; those that a loop would repeat for ever are given once in a process."""

from __future__ import annotations

import sys
import warnings

_given: set[str] = set()
_always = False


def set_warn_always(mode: bool, /) -> None:
    """Whether warnings that are otherwise given once in a process are given each time.

    Raises:
        TypeError: ``mode`` is no bool.

    Example::

        >>> ad.set_warn_always(True)
        >>> ad.is_warn_always_enabled()
        True
        >>> ad.set_warn_always(False)
    """
    if not isinstance(mode, bool):
        raise TypeError(f"set_warn_always expects a bool, but got {type(mode).__name__}")
    global _always
    _always = mode


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` says; False at first.

    Example::

        >>> ad.is_warn_always_enabled()
        False
    """
    return _always


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warns at the line outside adjoint from which it was called, however many of its functions lie between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("adjoint"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


def warn_once(text: str) -> None:
    """The same, the first time or always; one that a filter makes an error of counts as not given."""
    if _always or text not in _given:
        warn(text)
        _given.add(text)
