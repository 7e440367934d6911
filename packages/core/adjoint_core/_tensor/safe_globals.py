"""What files may name beyond tensors and containers when they are loaded with `weights_only`: what the user says is safe."""

from __future__ import annotations

from typing import Any

SAFE: dict[str, Any] = {}  # by module and name
_given: dict[str, Any] = {}  # what was given for each: the object, or a pair of it and its name


def _name(item: Any) -> str:
    if isinstance(item, tuple):
        if len(item) != 2 or not isinstance(item[1], str):
            raise ValueError(f"add_safe_globals: expected a pair of an object and its name, got {item!r}")
        return item[1]
    return f"{item.__module__}.{item.__qualname__}"


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Lets `load` with `weights_only` use these functions and classes, or pairs of one and the name that it has in files.

    Example::

        >>> import fractions
        >>> ad.serialization.add_safe_globals([fractions.Fraction]); ad.serialization.get_safe_globals()
        [<class 'fractions.Fraction'>]
        >>> ad.serialization.clear_safe_globals()
    """
    for item in safe_globals:
        SAFE[_name(item)] = item[0] if isinstance(item, tuple) else item
        _given[_name(item)] = item


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` was told."""
    return list(_given.values())


def clear_safe_globals() -> None:
    """Forgets what `add_safe_globals` was told."""
    SAFE.clear()
    _given.clear()


class safe_globals:
    """`add_safe_globals` for the length of a `with`.

    Example::

        >>> class Mine:
        ...     pass
        >>> with ad.serialization.safe_globals([Mine]):
        ...     Mine in ad.serialization.get_safe_globals()
        True
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._items = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._items)

    def __exit__(self, *error: object) -> None:
        clear_safe_globals()
        add_safe_globals(self._before)
