"""`Node`: one step of a traced program, a link of its graph's list."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

Target = Callable[..., Any] | str  # what a node calls
Argument = Any  # nodes and constants, in lists, tuples, dictionaries and slices


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same lists, tuples, dictionaries and slices, of what `fn` makes of the leaves."""
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return [map_aggregate(item, fn) for item in a]
    if isinstance(a, dict):
        return {key: map_aggregate(value, fn) for key, value in a.items()}
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The same structure with `fn(node)` for each node; everything else stays.

    Example::

        >>> graph = ad.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> ad.fx.map_arg([x, (1, x)], lambda node: node.name)
        ['x', (1, 'x')]
    """
    return map_aggregate(a, lambda leaf: fn(leaf) if isinstance(leaf, Node) else leaf)


def home_of(f: Any) -> str:
    """The dotted name of a function, `torch` for the library's own rooms."""
    name = getattr(f, "__name__", None) or type(f).__name__
    if getattr(builtins, name, None) is f:
        return f"builtins.{name}"
    home = getattr(f, "__module__", None) or ""
    if home.startswith("adjoint"):
        room = next((r for r in ("nn.functional", "linalg", "special", "fft", "nn.init") if f".{r}" in home), "")
        return ".".join(filter(None, ("torch", room, name)))
    return f"{home.lstrip('_') if home == '_operator' else home}.{name}"


class Node:
    """A step: `op` says which kind, `target` what is called, `args` and `kwargs` with what; `users` are the nodes that take its result.

    `op` is one of `placeholder`, `get_attr`, `call_function`, `call_method`, `call_module` and `output`. Nodes are made by their `Graph`.
    """

    def __init__(
        self,
        graph: Any,
        name: str,
        op: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        type_expr: Any = None,
    ) -> None:
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, type_expr
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._take(args, kwargs)

    def _take(self, args: Any, kwargs: Any) -> None:
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}
        self._args, self._kwargs = map_arg(tuple(args), self._use), map_arg(dict(kwargs), self._use)

    def _use(self, node: Node) -> Node:
        self._inputs[node] = node.users[self] = None
        return node

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; setting them renews the `users` of the nodes among them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._take(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The named arguments; set whole, not key by key."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._take(self._args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._inputs)

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    def update_arg(self, idx: int, arg: Any) -> None:
        """Sets one positional argument."""
        self.args = (*self._args[:idx], arg, *self._args[idx + 1 :])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Sets one named argument."""
        self.kwargs = {**self._kwargs, key: arg}

    def prepend(self, x: Node) -> None:
        """Moves `x` in front of this node."""
        if x is self:
            return
        x._unlink()
        x._prev, x._next = self._prev, self
        x._prev._next = self._prev = x

    def append(self, x: Node) -> None:
        """Moves `x` behind this node."""
        if self._next is not x:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Every user takes `replace_with` instead, if `delete_user_cb(user)`; gives the users that changed."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Takes `new_input` wherever it took `old_input`."""
        swap = lambda node: new_input if node is old_input else node  # noqa: E731
        self._take(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it has to stay though nobody takes its result: inputs, outputs, assertions and what writes in place."""
        name = self.target if isinstance(self.target, str) else getattr(self.target, "__name__", "")
        if self.op in ("placeholder", "output") or name in ("_assert", "setitem"):
            return True
        return self.op in ("call_function", "call_method") and name.endswith("_") and not name.endswith("__")

    def format_node(self) -> str:
        """The node as a line of its graph's text."""
        if self.op == "output":
            return f"return {_text(self.args[0])}"
        target = self.target if isinstance(self.target, str) else home_of(self.target)
        line = f"%{self.name} : [num_users={len(self.users)}] = {self.op}[target={target}]"
        if self.op == "placeholder":
            return line + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return line
        return f"{line}(args = {_text(self.args, '%')}, kwargs = {_text(self.kwargs, '%')})"

    def __repr__(self) -> str:
        return self.name


def _text(a: Any, mark: str = "") -> str:
    if isinstance(a, (list, tuple)):
        inner = ", ".join(_text(item, mark) for item in a)
        return f"[{inner}]" if isinstance(a, list) else f"({inner}{',' if len(a) == 1 else ''})"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{key if mark else repr(key)}: {_text(value, mark)}" for key, value in a.items()) + "}"
    return mark + a.name if isinstance(a, Node) else str(a)
