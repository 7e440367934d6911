"""`Interpreter`: runs a graph node by node. `Transformer`: makes a graph of one so."""

from __future__ import annotations

from typing import Any

from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy
from .tracer import Tracer


class Interpreter:
    """Runs the graph of a module; subclasses say what each kind of node does.

    Example::

        >>> class Names(ad.fx.Interpreter):
        ...     def run_node(self, n):
        ...         print(n.name)
        ...         return super().run_node(n)
        >>> Names(ad.fx.symbolic_trace(lambda x: ad.relu(x))).run(ad.tensor([-1.0]))
        x
        relu
        output
        tensor([0.])
    """

    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module, self.graph = module, graph or module.graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """What the program returns for these arguments."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        left = {node: len(node.users) for node in self.graph.nodes}
        for node in self.graph.nodes:
            if node not in self.env:
                self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
            for taken in node.all_input_nodes if self.garbage_collect_values else ():
                left[taken] -= 1
                if not left[taken]:
                    del self.env[taken]
        return None

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[Any, Any]:
        """The arguments of a node, with values for nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """The structure with values for nodes."""
        return map_arg(args, self.env.__getitem__)

    def fetch_attr(self, target: str) -> Any:
        """The attribute of a dotted name of the module."""
        found = self.module
        for part in target.split("."):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {target}")
            found = getattr(found, part)
        return found

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The next argument of `run`, or the default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A parameter, buffer or other attribute."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Calls a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Calls a method of the first argument."""
        me, *rest = args
        return getattr(me, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Calls a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What is returned."""
        return args[0]


class Transformer(Interpreter):
    """Runs a graph on proxies: `transform` gives the module of what the methods did, the same program unless a subclass says otherwise.

    Example::

        >>> class Doubled(ad.fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         return super().call_function(target, args, kwargs) * 2
        >>> Doubled(ad.fx.symbolic_trace(lambda x: ad.relu(x))).transform()(ad.tensor([1.0]))
        tensor([2.])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = Tracer()
        self.tracer.graph, self.tracer.root = self.new_graph, module

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Proxy:
        """An input of the new graph."""
        return self.tracer.create_proxy("placeholder", target, args, {})

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Proxy:
        """An attribute, in the new graph."""
        return self.tracer.create_proxy("get_attr", target, (), {})

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call in the new graph."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        result = super().run()
        self.new_graph.output(map_aggregate(result, lambda leaf: leaf.node if isinstance(leaf, Proxy) else leaf))
        return GraphModule(self.module, self.new_graph)
