"""What functions written in Python say when they are called with something that is no tensor."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ._core import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def _wrong_argument(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any] | None:
    """The first argument that should be a tensor and is none."""
    signature = inspect.signature(f)
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        wanted = str(signature.parameters[name].annotation)
        if wanted == "Tensor" or (wanted == "Tensor | None" and value is not None):
            if not isinstance(value, Tensor):
                return name, value
    return None


def checked(f: F) -> F:
    """The function, whose AttributeErrors about an argument that is no tensor become TypeErrors that name it."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except AttributeError as error:
            wrong = _wrong_argument(f, args, kwargs)
            if wrong is None:
                raise
            raise TypeError(f"{f.__name__}: argument '{wrong[0]}' must be Tensor, not {type(wrong[1]).__name__}") from error

    return call  # type: ignore[return-value]
