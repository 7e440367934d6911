"""Warnings that are given once in a process, as a loop would repeat them for ever."""

from __future__ import annotations

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


def warn_once(message: str, stacklevel: int) -> None:
    """``warnings.warn``, the first time or always."""
    if not _always and message in _given:
        return
    _given.add(message)
    warnings.warn(message, stacklevel=stacklevel + 1)
