"""How functions written in Python become methods of `Tensor`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ._checked import checked
from ._core import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def method(f: F) -> F:
    """The function is a method of `Tensor` too, under its name."""
    setattr(Tensor, f.__name__, checked(f) if "dim" in f.__code__.co_varnames else f)
    return f


def inplace_method(f: F) -> F:
    """The function is a method of `Tensor` too, and `name_` writes its result into the tensor."""

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.copy_(f(self.clone(), *args, **kwargs))  # what f saves must not be overwritten

    write.__name__ = f.__name__ + "_"
    write.__doc__ = f"The in-place form of `{f.__name__}`."
    setattr(Tensor, write.__name__, write)
    return method(f)
