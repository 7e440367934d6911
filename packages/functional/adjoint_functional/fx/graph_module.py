"""`GraphModule`: a module whose `forward` is the text of a graph, compiled."""

from __future__ import annotations

import copy
import itertools
import linecache
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import Parameter
from adjoint_functional.nn.modules import Module

from .graph import Graph

_texts = itertools.count()


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


def _compiled(text: str, names: dict[str, Any]) -> Any:
    """The function of a text, which tracebacks can show."""
    file = f"<eval_with_key>.{next(_texts)}"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(names)
    exec(compile(text, file, "exec"), names)
    return names["forward"]


def _rebuilt(kind: type, state: dict[str, Any], graph: Graph, name: str) -> GraphModule:
    module = Module()
    module.__dict__.update(state)
    made = kind(module, graph, name)
    made.__dict__.update({k: v for k, v in state.items() if k not in ("_modules", "_parameters", "_buffers")})
    return made  # type: ignore[no-any-return]


class GraphModule(Module):
    """A module that runs `graph`; the submodules and attributes that the graph names are taken from `root`, a module or a dictionary.

    Example::

        >>> traced = ad.fx.symbolic_trace(ad.nn.Sequential(ad.nn.Linear(2, 2), ad.nn.ReLU()))
        >>> for node in traced.graph.nodes:
        ...     if node.op == "call_module" and node.target == "1":
        ...         node.target, node.op = ad.sigmoid, "call_function"
        >>> traced.recompile().src.count("torch.sigmoid")
        1
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        kind = cls.__dict__.get("_public", cls)
        name = f"{kind.__qualname__}.__new__.<locals>.GraphModuleImpl"  # PyTorch's, by which programs know that forward is the class's
        return super().__new__(
            type(kind.__name__, (kind,), {"_public": kind, "__module__": kind.__module__, "__qualname__": name})
        )

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        self.meta: dict[str, Any] = {}
        targets = dict.fromkeys(str(n.target) for n in graph.nodes if n.op in ("get_attr", "call_module"))  # in their order
        if isinstance(root, Module):
            self.training = root.training
            for target in sorted(targets, key=lambda t: t.count(".")):
                _copy_attr(root, self, target)
        else:
            for target in sorted(targets, key=lambda t: t.count(".")):
                if target not in root:
                    raise RuntimeError(f"GraphModule: the graph names {target!r}, which root does not have")
                self._place(target, root[target])
        self.graph = graph

    def _place(self, target: str, value: Any) -> None:
        *way, name = target.split(".")
        owner: Module = self
        for item in way:
            if not hasattr(owner, item):
                setattr(owner, item, Module())
            owner = getattr(owner, item)
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            owner.register_buffer(name, value)
        else:
            setattr(owner, name, value)

    @property
    def graph(self) -> Graph:
        """The program; setting it compiles it."""
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of `forward`."""
        return self._code

    def recompile(self) -> Any:
        """Writes and compiles `forward` anew: after the graph has changed."""
        written = self._graph.python_code(root_module="self")
        self._code = written.src
        type(self).forward = _compiled(written.src, written.globals)  # type: ignore[method-assign]
        return written

    def add_submodule(self, target: str, m: Module) -> bool:
        """Puts a module at a dotted name; modules on the way are made."""
        self._place(target, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Removes the module of a dotted name; says whether it was there."""
        way, _, name = target.rpartition(".")
        try:
            owner = self.get_submodule(way)
        except AttributeError:
            return False
        return owner._modules.pop(name, None) is not None

    def delete_all_unused_submodules(self) -> None:
        """Removes the modules that the graph does not name, with those below them."""
        used = {str(n.target) for n in self._graph.nodes if n.op in ("call_module", "get_attr")}
        for name in [n for n, _ in self.named_modules() if n]:
            if not any(name == t or t.startswith(f"{name}.") or name.startswith(f"{t}.") for t in used):
                self.delete_submodule(name)

    def print_readable(self, print_output: bool = True, **unused: Any) -> str:
        """The text as a class, printed and given."""
        body = self._code.strip("\n").rstrip()
        text = f"class {type(self).__name__}(torch.nn.Module):\n" + "\n".join(f"    {line}" for line in body.split("\n")) + "\n"
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self._code}\n# To see more debug info, please use `graph_module.print_readable()`"

    def _state(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_graph", "_code")}

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self)._public, self._state(), self._graph, type(self).__name__)  # type: ignore[attr-defined]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        kind: Any = type(self)
        made = _rebuilt(kind._public, copy.deepcopy(self._state(), memo), copy.deepcopy(self._graph, memo), kind.__name__)
        memo[id(self)] = made
        return made

    def __copy__(self) -> GraphModule:
        return _rebuilt(type(self)._public, self._state(), copy.deepcopy(self._graph), type(self).__name__)  # type: ignore[attr-defined]


_CodeOnlyModule = GraphModule  # what PyTorch's pickles make on their way to one
