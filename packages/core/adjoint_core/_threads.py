"""How many threads kernels may use: core has one; a kernel package that has more registers itself here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_get: Callable[[], int] = lambda: 1  # noqa: E731
_set: Callable[[int], None] = lambda n: None  # noqa: E731


def register(get: Callable[[], int], set: Callable[[int], None]) -> None:
    """Called by the package whose kernels run in several threads."""
    global _get, _set
    _get, _set = get, set


def get_num_threads() -> int:
    """The number of threads that one operation may use.

    Example::

        >>> ad.get_num_threads() >= 1
        True
    """
    return _get()


def set_num_threads(n: int) -> None:
    """Sets the number of threads that one operation may use.

    Raises:
        RuntimeError: `n` is not positive.

    Example::

        >>> before = ad.get_num_threads()
        >>> ad.set_num_threads(1)
        >>> ad.get_num_threads()
        1
        >>> ad.set_num_threads(before)
    """
    if n <= 0:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {n}")
    _set(n)
