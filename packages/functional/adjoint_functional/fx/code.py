"""The Python text of a graph, and the objects that its names mean."""

from __future__ import annotations

import builtins
import keyword
import math
import operator
import re
import sys
from dataclasses import dataclass
from typing import Any

from .node import Node, home_of

_INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//", operator.mod: "%",
    operator.pow: "**", operator.matmul: "@", operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&", operator.or_: "|",
    operator.xor: "^", operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.gt: ">", operator.le: "<=", operator.ge: ">=",
}  # fmt: skip
_PREFIX = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}


@dataclass
class PythonCode:
    """The text of `forward`, and the globals that it names."""

    src: str
    globals: dict[str, Any]


class Namespace:
    """Names that are taken; a name is made one of Python, and numbered if it is taken."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def create_name(self, candidate: str, obj: Any = None) -> str:
        name = re.sub(r"\W+", "_", candidate) or "_unnamed"
        name = f"_{name}" if name[0].isdigit() else name
        stem, _, count = name.rpartition("_")
        base, number = (stem, int(count)) if stem and count.isdigit() else (name, 0)
        while (
            name in self.taken or keyword.iskeyword(name) or hasattr(builtins, name) or name in ("self", "torch", "inf", "nan")
        ):
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


def _library() -> Any:
    return sys.modules.get("adjoint")


class _Writer:
    def __init__(self, root: str, taken: set[str]) -> None:
        self.root, self.globals, self.names = root, {"inf": math.inf, "nan": math.nan, "torch": _library()}, Namespace()
        self.names.taken = set(taken)

    def named(self, obj: Any) -> str:
        """An expression that is the object: its public name if it has one there, else a global made for it."""
        home = home_of(obj)
        if home.startswith("builtins."):
            return home.removeprefix("builtins.")
        if home.startswith("torch."):
            found: Any = _library()
            for part in home.split(".")[1:]:
                found = getattr(found, part, None)
            if found is obj:
                return home
        known = next((name for name, value in self.globals.items() if value is obj), None)
        if known is None:
            known = self.names.create_name(home.replace(".", "_"))
            self.globals[known] = obj
        return known

    def text(self, a: Any) -> str:
        if isinstance(a, Node):
            return a.name
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return f"{self.named(type(a))}({', '.join(map(self.text, a))})"
        if isinstance(a, tuple):
            return f"({', '.join(map(self.text, a))}{',' if len(a) == 1 else ''})"
        if isinstance(a, list):
            return f"[{', '.join(map(self.text, a))}]"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{key!r}: {self.text(value)}" for key, value in a.items()) + "}"
        if isinstance(a, slice):
            return f"slice({self.text(a.start)}, {self.text(a.stop)}, {self.text(a.step)})"
        if type(a) in (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), range):
            return repr(a) if a is not Ellipsis else "Ellipsis"
        if type(a).__name__ == "dtype":
            return f"torch.{str(a).rpartition('.')[2]}"
        return self.named(a)

    def attribute(self, target: str) -> str:
        found = self.root
        for part in target.split("."):
            found = f"{found}.{part}" if part.isidentifier() and not keyword.iskeyword(part) else f"getattr({found}, {part!r})"
        return found

    def call(self, callee: str, args: Any, kwargs: Any) -> str:
        words = [self.text(arg) for arg in args]
        if all(key.isidentifier() and not keyword.iskeyword(key) for key in kwargs):
            words += [f"{key} = {self.text(value)}" for key, value in kwargs.items()]
        else:
            words.append(f"**{self.text(kwargs)}")
        return f"{callee}({', '.join(words)})"

    def value(self, node: Node) -> str:
        args, target = node.args, node.target
        if node.op == "get_attr":
            return self.attribute(str(target))
        if node.op == "call_module":
            return self.call(self.attribute(str(target)), args, node.kwargs)
        if node.op == "call_method":
            me = self.text(args[0])
            return self.call(f"{me if isinstance(args[0], Node) else f'({me})'}.{target}", args[1:], node.kwargs)
        if not node.kwargs and len(args) == 2:
            if target in _INFIX:
                left = self.text(args[0])
                left = f"({left})" if target is operator.pow and left[0] == "-" else left  # -2 ** x is the negative of a power
                return f"{left} {_INFIX[target]} {self.text(args[1])}"
            if target is operator.getitem:
                return f"{self.text(args[0])}[{self.text(args[1])}]"
            if target is getattr and str(args[1]).isidentifier() and isinstance(args[0], Node):
                return f"{args[0].name}.{args[1]}"
        if len(args) == 1 and not node.kwargs and target in _PREFIX:
            return f"{_PREFIX[target]}{self.text(args[0])}"
        return self.call(self.named(target), args, node.kwargs)


def _last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """For each node, the values that nobody takes after it: they are let go, as in a function written by hand."""
    seen: set[Node] = set()
    last: dict[Node, list[Node]] = {}
    for node in reversed(nodes):
        ended = [n for n in node.all_input_nodes if n not in seen]
        seen.update(ended)
        last[node] = ended + ([node] if not node.users and node.op not in ("placeholder", "output") else [])
    return last


def write(nodes: list[Node], root: str = "self") -> PythonCode:
    """The text of a function of the graph's placeholders that does its steps in their order."""
    writer = _Writer(root, {node.name for node in nodes})
    last, inputs, lines = _last_uses(nodes), list[str](), list[str]()
    for node in nodes:
        if node.op == "placeholder":
            name = str(node.target)
            stars = name[: len(name) - len(name.lstrip("*"))]
            word = name.lstrip("*")
            given = (
                word if word.isidentifier() and not keyword.iskeyword(word) else node.name
            )  # callers may name their arguments
            inputs.append(f"{stars}{given}" + (f" = {writer.text(node.args[0])}" if node.args else ""))
            if given != node.name:
                lines.append(f"{node.name} = {given}")
        elif node.op == "output":
            lines.append(f"return {writer.text(node.args[0])}")
        else:
            gone = "".join(f"{n.name} = " for n in last[node])
            lines.append(f"{node.name} = {writer.value(node)}" + (f";  {gone}None" if gone else ""))
    body = "".join(f"    {line}\n" for line in lines or ["pass"])
    return PythonCode(f"\n\n\ndef forward({', '.join([root, *inputs])}):\n{body}    ", writer.globals)
