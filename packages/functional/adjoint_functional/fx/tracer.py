"""`Tracer`: runs a module on proxies, and so writes down what it does."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from adjoint_core import Tensor
from adjoint_engine import Parameter
from adjoint_functional.nn.modules import Module, Sequential
from adjoint_functional.switches import _assert

from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate
from .proxy import Proxy, TracerBase

T = TypeVar("T")
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}  # names in globals that are leaves of every trace


def wrap(fn_or_name: T) -> T:
    """Makes a function of the calling module a leaf: a call with proxies is one node. For the top of a module, or as a decorator.

    Example::

        >>> @ad.fx.wrap
        ... def halves(n):
        ...     return n // 2 if n else 0
    """
    name = fn_or_name if isinstance(fn_or_name, str) else getattr(fn_or_name, "__name__", None)
    frame = inspect.currentframe()
    if not isinstance(name, str) or frame is None or frame.f_back is None:
        raise RuntimeError(f"wrap: a global function or its name is needed, got {fn_or_name!r}")
    if frame.f_back.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(frame.f_back.f_globals), name] = frame.f_back.f_globals
    return fn_or_name


def _recording(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def leaf(*args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        map_aggregate((args, kwargs), lambda a: found.append(a) if isinstance(a, Proxy) else None)
        return found[0].tracer.create_proxy("call_function", f, args, kwargs) if found else f(*args, **kwargs)

    return leaf


_MISSING = object()


@contextmanager
def _set(space: Any, name: str, value: Any) -> Iterator[None]:
    """`name` is `value` in a class, module or dictionary for a while."""
    table = isinstance(space, dict)
    before = (space if table else vars(space)).get(name, _MISSING)
    space.__setitem__(name, value) if table else setattr(space, name, value)
    try:
        yield
    finally:
        if before is _MISSING:
            space.__delitem__(name) if table else delattr(space, name)
        else:
            space.__setitem__(name, before) if table else setattr(space, name, before)


class Tracer(TracerBase):
    """Traces modules and functions. Subclasses say what is a leaf (`is_leaf_module`) and see each call (`call_module`).

    Example::

        >>> graph = ad.fx.Tracer().trace(ad.nn.Sequential(ad.nn.Linear(2, 2), ad.nn.ReLU()))
        >>> [node.op for node in graph.nodes]
        ['placeholder', 'call_module', 'call_module', 'output']
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._modules_of_leaves = autowrap_modules
        self._leaves = set(map(id, autowrap_functions))
        self.param_shapes_constant = param_shapes_constant
        self.root: Module = Module()

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module is one node: those of `nn` are, except `Sequential`."""
        home = type(m).__module__
        return home.startswith(("torch.nn", "adjoint_functional.nn", "adjoint.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The dotted name of a module below the root. NameError if it is not there."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a module: a node if it is a leaf, else what it does."""
        path = self.path_of_module(m)
        return (
            self.create_proxy("call_module", path, args, kwargs) if self.is_leaf_module(m, path) else forward(*args, **kwargs)
        )

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What an attribute of a module is: parameters of the root are nodes, each made once."""
        if not isinstance(attr_val, Parameter):
            return attr_val
        for name, parameter in self.root.named_parameters():
            if parameter is attr_val:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                return parameter_proxy_cache[name]
        return attr_val

    def _leaf(self, a: Any) -> Any:
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._name_of(a), (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super()._leaf(a)

    def _name_of(self, a: Tensor) -> str:
        """Where the root has a tensor; it is given it if it has not."""
        for owner, module in self.root.named_modules():
            for name, value in {**module._parameters, **module._buffers, **vars(module)}.items():
                if value is a:
                    return f"{owner}.{name}" if owner else name
        number = next(i for i in range(len(vars(self.root)) + 1) if not hasattr(self.root, f"_tensor_constant{i}"))
        setattr(self.root, f"_tensor_constant{number}", a)
        return f"_tensor_constant{number}"

    def _inputs(self, f: Callable[..., Any], bound: bool, concrete: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The proxies that the root is called with."""
        args, kwargs = list[Any](), dict[str, Any]()
        for p in list(inspect.signature(f).parameters.values())[1 if bound else 0 :]:
            if p.name in concrete:
                value: Any = self._fixed(p.name, concrete[p.name])
            else:
                default = () if p.default is p.empty else (p.default,)
                stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
                value = self.create_proxy("placeholder", stars + p.name, default, {})
                value.node.type = None if p.annotation is p.empty else p.annotation
            if p.kind == p.KEYWORD_ONLY:
                kwargs[p.name] = value
            elif p.kind == p.VAR_POSITIONAL:
                args.append(value)
            elif p.kind == p.VAR_KEYWORD:
                kwargs[f"**{p.name}"] = value
            else:
                args.append(value)
        return args, kwargs

    def _fixed(self, name: str, value: Any) -> Any:
        """An argument that has one value in the whole program, which the program checks."""
        given = self.create_proxy("placeholder", f"{name}_1", (), {})
        if isinstance(value, (bool, int, float, str)):
            message = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", _assert, (given == value, message), {})
        return value

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of what `root` does with any arguments; those of `concrete_args` are as given. TraceError where it has to know a value."""
        self.graph = Graph(tracer_cls=type(self))
        if isinstance(root, Module):
            self.root, f = root, type(root).forward
        else:
            self.root, f = Module(), root
        args, kwargs = self._inputs(f, isinstance(root, Module), concrete_args or {})
        if isinstance(root, Module):
            args.insert(0, root)
        function = _with_stars(f)
        with ExitStack() as patches:
            self._patch(patches, getattr(inspect.unwrap(f), "__globals__", {}))
            result = function(*args, **kwargs)
            self.create_node("output", "output", (self.create_arg(result),), {})
        return self.graph

    def _patch(self, patches: ExitStack, space: dict[str, Any]) -> None:
        read, call = Module.__getattr__, Module.__call__
        parameters: dict[str, Proxy] = {}
        seen: set[int] = set()

        def wrap_in(space: dict[str, Any]) -> None:
            if id(space) in seen:
                return
            seen.add(id(space))
            for name, value in list(space.items()):
                if id(value) in self._leaves and callable(value):
                    patches.enter_context(_set(space, name, _recording(value)))

        def getattr_of(module: Module, name: str) -> Any:
            return self.getattr(name, read(module, name), parameters)

        def call_of(module: Module, *args: Any, **kwargs: Any) -> Any:
            wrap_in(getattr(inspect.unwrap(type(module).forward), "__globals__", {}))
            return self.call_module(module, lambda *a, **k: call(module, *a, **k), args, kwargs)

        for room in self._modules_of_leaves:
            for name, value in list(vars(room).items()):
                if not name.startswith("_") and callable(value):
                    patches.enter_context(_set(room, name, _recording(value)))
        for (_, name), home in _wrapped.items():
            if (value := home.get(name, getattr(builtins, name, None))) is not None:
                patches.enter_context(_set(home, name, _recording(value)))
        wrap_in(space)
        patches.enter_context(_set(Module, "__getattr__", getattr_of))
        patches.enter_context(_set(Module, "__call__", call_of))


def _with_stars(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its `*args` and `**kwargs` as if they were arguments: each is one proxy."""
    plain = inspect.unwrap(f)
    flags = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    code = getattr(plain, "__code__", None)
    if code is None or not code.co_flags & flags:
        return f
    return _unstarred(plain, code, flags)


def _unstarred(f: Any, code: Any, flags: int) -> Callable[..., Any]:
    positional, named = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    extra = [n for flag, n in zip((inspect.CO_VARARGS, inspect.CO_VARKEYWORDS), (1, 1), strict=True) if code.co_flags & flag]
    total = positional + named + len(extra)
    made = FunctionType(
        code.replace(co_flags=code.co_flags & ~flags, co_argcount=total, co_kwonlyargcount=0, co_posonlyargcount=0),
        f.__globals__, f.__name__, None, f.__closure__,
    )  # fmt: skip

    def call(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip([*names[:positional], *names[positional + named : total]], args, strict=False))
        given.update({name.lstrip("*"): value for name, value in kwargs.items()})
        return made(**given)

    return call


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A module that does what `root` does, step by step as its `graph` says; its parameters are those of `root`.

    Raises TraceError where the program depends on a value, as in `if x.sum() > 0`.

    Example::

        >>> traced = ad.fx.symbolic_trace(lambda x: ad.relu(x) + 1)
        >>> traced(ad.tensor([-1.0, 1.0]))
        tensor([1., 2.])
        >>> print(traced.code.strip())
        def forward(self, x):
            relu = torch.relu(x);  x = None
            add = relu + 1;  relu = None
            return add
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", type(root).__name__)
    return GraphModule(tracer.root, graph, name)
