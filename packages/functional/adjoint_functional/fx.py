"""`fx`: the classes of PyTorch's traced programs, for libraries that ask what they were given. Nothing is traced: nothing is an instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from adjoint_functional.nn.modules import Module

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

T = TypeVar("T")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"fx.{name}: programs are not traced into graphs here; what is called runs as the Python that it is"
    )


class _Traced:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(type(self).__name__)


class Node(_Traced):
    """A step of a traced program; there are none."""


class Graph(_Traced):
    """A traced program; there are none."""


class Proxy(_Traced):
    """A value while PyTorch traces; there are none."""


class Tracer(_Traced):
    """What traces; its subclasses can be written, not made."""


class Interpreter(_Traced):
    """What runs a traced program node by node; its subclasses can be written, not made."""


class Transformer(Interpreter):
    """What makes a traced program of another; its subclasses can be written, not made."""


class GraphModule(_Traced, Module):
    """A module that runs a traced program; there are none."""


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> NoReturn:
    """Raises NotImplementedError: programs are not traced."""
    _refuse("symbolic_trace")


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> NoReturn:
    """Raises NotImplementedError: programs are not traced."""
    _refuse("replace_pattern")


def get_proxy_mode() -> None:
    """What traces at present: nothing."""


def is_fake(x: Any) -> bool:
    """Whether a tensor only stands for one while PyTorch traces: none does."""
    return False


def wrap(fn_or_name: T) -> T:
    """The function, or its name, itself: there is no trace that it would have to be a leaf of."""
    return fn_or_name
