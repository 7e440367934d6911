"""`fx`: the classes of PyTorch's traced programs, for libraries that ask what they were given. Nothing is traced: nothing is an instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from adjoint_core import Tensor
from adjoint_engine import Parameter
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
Target = Callable[..., Any] | str  # what annotations call that which a node calls, and what it is given
Argument = Any
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"  # in what PyTorch keeps of a traced module


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


class _CodeOnlyModule(_Traced, Module):
    """A traced program without its graph; there are none."""


class GraphModule(_Traced, Module):
    """A module that runs a traced program; there are none."""


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Sets the attribute of a dotted name to what it is in another module; modules on the way are made. Nothing if it is not there."""
    *way, name = target.split(".")
    for item in way:
        from_module, found = getattr(from_module, item, None), getattr(to_module, item, None)  # type: ignore[assignment]
        if found is from_module or from_module is None:
            return
        if found is None:
            found = Module()
            setattr(to_module, item, found)
        to_module = found
    value = getattr(from_module, name)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        to_module.register_buffer(name, value)
    else:
        setattr(to_module, name, value)


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
