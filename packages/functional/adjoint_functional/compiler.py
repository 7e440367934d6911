"""`compile` and `compiler`: PyTorch's compiler, as a pass-through. Functions run as the Python that they are, which is not slower here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling", "is_dynamo_compiling",
    "is_exporting", "reset", "set_stance",
]  # fmt: skip


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """The function itself, a module around the module, or without one a decorator that gives these: nothing is compiled.

    Of a module it is an `OptimizedModule`, as programs expect that save its ``_orig_mod``.

    Example::

        >>> ad.compile(abs) is abs
        True
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    wrapped = _same if disable else _optimized
    return wrapped(model) if model is not None else wrapped


def _optimized(model: Any) -> Any:
    from .optimized import Module, OptimizedModule

    return OptimizedModule(model) if isinstance(model, Module) and not isinstance(model, OptimizedModule) else model


def _same(fn: Any) -> Any:
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself, or a decorator that gives it."""
    return _same if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def reset() -> None:
    """Forgets what was compiled: nothing."""


def cudagraph_mark_step_begin() -> None:
    """Says to a compiler that a step begins: nobody listens."""


def is_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is compiled."""
    return False


def is_exporting() -> bool:
    """False: nothing is exported."""
    return False


@contextmanager
def set_stance(stance: str = "default", **kwargs: Any) -> Iterator[None]:
    """Says how to compile, inside of a `with`: nothing is."""
    yield
