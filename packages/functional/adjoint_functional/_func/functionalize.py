"""`functionalize`, which has nothing to do here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["functionalize"]

F = TypeVar("F", bound=Callable[..., object])


def functionalize(func: F, *, remove: str = "mutations") -> F:
    """The function itself: PyTorch takes writes in place out of it for tracers that cannot follow them, and the results are the same.

    Raises:
        RuntimeError: `remove` is neither "mutations" nor "mutations_and_views".

    Example::

        >>> ad.func.functionalize(lambda x: x.clone().add_(1))(ad.ones(1))
        tensor([2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}")
    return func
