"""`Graph`: a program as a list of nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from . import code
from .node import Node, Target, map_aggregate, map_arg


class _Nodes:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __iter__(self) -> Iterator[Node]:
        node = self._graph._root._next
        while node is not self._graph._root:
            yield node
            node = node._next

    def __reversed__(self) -> Iterator[Node]:
        node = self._graph._root._prev
        while node is not self._graph._root:
            yield node
            node = node._prev

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Place:
    """Stands for a node in a pickle."""

    def __init__(self, at: int) -> None:
        self.at = at


def _rebuilt(steps: list[Any]) -> Graph:
    graph, nodes = Graph(), list[Node]()
    for op, target, args, kwargs, name in steps:
        args, kwargs = map_aggregate((args, kwargs), lambda leaf: nodes[leaf.at] if isinstance(leaf, _Place) else leaf)
        nodes.append(graph.create_node(op, target, args, kwargs, name))
    return graph


class Graph:
    """A program: nodes in the order in which they run. New nodes go to the end, or where `inserting_before` says.

    Example::

        >>> graph = ad.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> graph.output(graph.call_function(ad.relu, (x,)))
        output
        >>> ad.fx.GraphModule(ad.nn.Module(), graph)(ad.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._names = code.Namespace()
        self.owning_module, self._tracer_cls = owning_module, tracer_cls

    @property
    def nodes(self) -> Any:
        """The nodes, from first to last; `reversed` goes back."""
        return _Nodes(self)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of one kind, or those that call one target."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node where nodes go at present; its name is `name`, else made of the target."""
        word = name or (target if isinstance(target, str) else target.__name__)
        if name is None:
            word = (
                word
                if op in ("placeholder", "call_module", "get_attr")
                else re.sub("([a-z0-9])([A-Z]+)", r"\1_\2", word).lower()
            )
        node = Node(self, self._names.create_name(word), op, target, args or (), kwargs or {}, type_expr)
        self._insert(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An input of the program."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or other attribute of the module that will own the graph."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a submodule, by its dotted name."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """What the program returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """The node that returns."""
        return next(n for n in reversed(self.nodes) if n.op == "output")

    def _inserting(self, insert: Callable[[Node], None]) -> ExitStack:
        """From the call on; with `with`, until its end."""
        end = ExitStack()
        end.callback(setattr, self, "_insert", self._insert)
        self._insert = insert
        return end

    def inserting_before(self, n: Node | None = None) -> Any:
        """`with`: new nodes go in front of `n`; without one, to the beginning."""
        return self._inserting((n or self._root._next).prepend)

    def inserting_after(self, n: Node | None = None) -> Any:
        """`with`: new nodes go behind `n`, in the order in which they are made; without one, to the beginning."""
        return self._inserting((n or self._root)._next.prepend)

    def erase_node(self, to_erase: Node) -> None:
        """Takes a node out. RuntimeError while others take its result."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if not to_erase._erased:
            to_erase._take((), {})
            to_erase._unlink()
            to_erase._erased = True

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda n: n) -> Node:
        """A node of another graph, made here; `arg_transform` says which nodes of this graph its inputs are."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copies the nodes of `g` that are not in `val_map`, into which they go; gives what `g` returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erases what nobody takes and what is pure; says whether there was some."""
        pure = is_impure_node or Node.is_impure
        dead = [n for n in reversed(self.nodes) if not n.users and not pure(n)]
        found = bool(dead)
        while dead:
            for node in dead:
                self.erase_node(node)
            dead = [n for n in reversed(self.nodes) if not n.users and not pure(n)]
        return found

    def lint(self) -> None:
        """RuntimeError if a node takes one that does not come before it, or two have one name."""
        seen: dict[Node, str] = {}
        for node in self.nodes:
            for taken in node.all_input_nodes:
                if taken not in seen:
                    raise RuntimeError(f"Argument '{taken}' of Node '{node}' was used before it has been defined! {self}")
            if node.name in seen.values():
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen[node] = node.name

    def python_code(self, root_module: str, **unused: Any) -> code.PythonCode:
        """The Python text of the program: `src`, and the `globals` that it names."""
        return code.write(list(self.nodes), root_module)

    def print_tabular(self) -> None:
        """Prints a table of the nodes."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [(n.op, n.name, str(n.target), str(n.args), str(n.kwargs)) for n in self.nodes]
        wide = [max(len(row[i]) for row in rows) for i in range(5)]
        for row in rows:
            print("  ".join(word.ljust(w) for word, w in zip(row, wide, strict=True)).rstrip())

    def __str__(self) -> str:
        return "graph():" + "".join(f"\n    {n.format_node()}" for n in self.nodes)

    def __deepcopy__(self, memo: Any = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        values: dict[Node, Node] = {}
        for node in self.nodes:
            values[node] = made.node_copy(node, values.__getitem__)
        return made

    def __reduce__(self) -> Any:
        at = {node: _Place(i) for i, node in enumerate(self.nodes)}
        return _rebuilt, ([(n.op, n.target, *map_arg((n.args, n.kwargs), at.__getitem__), n.name) for n in self.nodes],)
