"""`Proxy`: the value of a node while a function is traced; what is done to it becomes a node."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import FrameType
from typing import Any

from adjoint_core.overrides import is_tensor_method_or_property

from .graph import Graph
from .node import Node, map_aggregate


class TraceError(ValueError):
    """What is traced needs a value that is known only when the program runs."""


def _caller() -> FrameType:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    assert frame is not None
    return frame


def _at() -> str:
    frame = _caller()
    return f' (File "{frame.f_code.co_filename}", line {frame.f_lineno}, in {frame.f_code.co_name})'


class TracerBase:
    """What makes nodes and proxies in `graph`."""

    graph: Graph

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A node of the graph; subclasses note it."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """The value that stands for a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """A node whose arguments may hold proxies, and its value."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """An argument of a node: proxies become their nodes, everything else stays."""
        return map_aggregate(a, self._leaf)

    def _leaf(self, a: Any) -> Any:
        if isinstance(a, Proxy):
            return a.node
        if is_dataclass(a) and not isinstance(a, type):
            words = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), words)
        return a

    def to_bool(self, obj: Proxy) -> bool:
        """What `if` makes of a proxy: TraceError."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow" + _at())

    def iter(self, obj: Proxy) -> Iterator[Proxy]:
        """What `for` makes of a proxy: TraceError; but `a, b = proxy` takes as many as it has names."""
        frame = _caller()
        at = frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2]
        if dis.opname[at[0]] == "UNPACK_SEQUENCE":
            return (obj[i] for i in range(at[1]))
        raise TraceError("Proxy object cannot be iterated. Its length is known only when the program runs" + _at())

    def keys(self, obj: Proxy) -> Any:
        """What `**proxy` takes: a call of its method."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Makes nodes at the place of a graph where they go at present."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """The value of a node: arithmetic, comparisons, indexing, attributes, methods and functions of it make nodes.

    Example::

        >>> graph = ad.fx.Graph()
        >>> x = ad.fx.Proxy(graph.placeholder("x"))
        >>> graph.output(((x + 1).sum() * 2).node)
        output
        >>> [node.name for node in graph.nodes]
        ['x', 'add', 'sum_1', 'mul', 'output']
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = tracer or GraphAppendingTracer(node.graph)
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__") or k in ("node", "tracer"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __deepcopy__(self, memo: Any) -> Proxy:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", abs, (self,), {})

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
            "please call torch.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        found: list[Proxy] = []
        map_aggregate((args, kwargs or {}), lambda a: found.append(a) if isinstance(a, Proxy) else None)
        tracer = found[0].tracer
        if is_tensor_method_or_property(func):
            return tracer.create_proxy("call_method", func.__name__, args, kwargs or {})
        if func.__name__ == "einsum" and len(args) == 2 and isinstance(args[1], (list, tuple)):
            args = (args[0], *args[1])  # one form of the call, for those who read graphs
        return tracer.create_proxy("call_function", func, args, kwargs or {})


class Attribute(Proxy):
    """An attribute of a proxy: read, it is a node `getattr`; called, a call of a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """Made when it is asked for: methods that are only called need none."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _method(f: Any, turned: bool = False) -> Callable[..., Proxy]:
    def method(self: Proxy, *other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", f, (*other, self) if turned else (self, *other), {})

    return method


for _name in "add sub mul floordiv truediv mod lshift rshift matmul pow and_ or_ xor".split():
    setattr(Proxy, f"__{_name.strip('_')}__", _method(getattr(operator, _name)))
    setattr(Proxy, f"__r{_name.strip('_')}__", _method(getattr(operator, _name), turned=True))
for _name in "eq ne lt gt le ge neg pos invert getitem setitem".split():
    setattr(Proxy, f"__{_name}__", _method(getattr(operator, _name)))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
