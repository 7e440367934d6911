"""Module: what owns parameters, buffers and other modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Parameter

from ..conversion import converted
from .global_hooks import registered
from .hooks import Calls, hooks_of_all
from .moving import parse_to
from .state import State

M = TypeVar("M", bound="Module")


def _is_buffer(value: Any) -> bool:
    return isinstance(value, Tensor) and getattr(value, "_is_buffer", False)


class _Marked(type):
    """Its instances are tensors that were made buffers."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return _is_buffer(instance)


class Buffer(Tensor, metaclass=_Marked):
    """Makes a tensor that becomes a buffer where it is set as an attribute of a module: it moves and is saved with it, but is no parameter.

    Arguments:
        data: the tensor; None: an empty one.
        persistent: whether ``state_dict`` has it.

    Example::

        >>> module = ad.nn.Module()
        >>> module.mean = ad.nn.Buffer(ad.zeros(2))
        >>> list(module.state_dict())
        ['mean']
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        data = core.empty(0) if data is None else data
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


class Module(Calls, State):
    """The base of layers and models: a subclass makes its parts in ``__init__`` (after ``super().__init__()``) and defines ``forward``.

    Parameters, modules and registered buffers that are set as attributes belong to it: ``parameters``, ``state_dict``, ``to`` and
    ``zero_grad`` find them, also in the modules it owns.

    Example::

        >>> class Scale(ad.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = ad.nn.Parameter(ad.tensor(3.0))
        ...     def forward(self, x):
        ...         return self.factor * x
        >>> Scale()(ad.ones(2)).tolist()
        [3.0, 3.0]
        >>> [name for name, parameter in Scale().named_parameters()]
        ['factor']
    """

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    call_super_init = False
    dump_patches = False
    _compiled_call_impl = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            raise TypeError(f"{type(self).__name__}.__init__() takes no arguments but its own, got {args} and {kwargs}")
        # Tables are seen by all who look for parts: they are put there by the door that asks nothing.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes the attributes; tables that an older file lacks are empty."""
        known = dict(self.__dict__)
        self.__dict__.update({**Module().__dict__, **known, **state})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Call the module itself, which runs its hooks too."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: as `compile`, which gives back what it gets."""

    # ---- parts

    def __getattr__(self, name: str) -> Any:
        for table, _ in _KINDS:
            if name in (owned := self.__dict__.get(table, ())):
                return owned[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if _is_buffer(value) and not any(name in self.__dict__.get(table, ()) for table, _ in _KINDS):
            if "_buffers" in self.__dict__:
                self._forget(name)
            self.register_buffer(name, value, value.persistent)
            return
        for table, kind in _KINDS:
            owned = self.__dict__.get(table)
            new = kind is not Tensor and isinstance(value, kind)
            if not new and (owned is None or name not in owned):
                continue
            if owned is None:
                what = "module" if kind is Module else table[1:]
                raise AttributeError(f"cannot assign {what} before Module.__init__() call")
            if value is not None and not isinstance(value, kind):
                what = {"_parameters": "parameter", "_modules": "child module", "_buffers": "buffer"}[table]
                raise TypeError(f"cannot assign '{_type_name(value)}' as {what} '{name}' ({_expected(kind)} or None expected)")
            if new and name not in owned:
                self._forget(name)
            owned[name] = registered(self, _WHAT[table], name, value) if hooks_of_all else value
            if _is_buffer(value):
                self.register_buffer(name, value, value.persistent)
            return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def _forget(self, name: str) -> bool:
        self._non_persistent_buffers_set.discard(name)
        tables = [self.__dict__, *(self.__dict__[table] for table, _ in _KINDS)]
        return any([table.pop(name, self) is not self for table in tables])

    def _register(self, table: str, kind: type, name: str, value: Any) -> None:
        what = _WHAT[table]
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")
        if value is not None and not isinstance(value, kind):
            if kind is Module:
                raise TypeError(f"{type(value).__name__} is not a Module subclass")
            raise TypeError(
                f"cannot assign '{_type_name(value)}' object to {what} '{name}' ({_expected(kind)} or None required)"
            )
        self.__dict__[table][name] = registered(self, what, name, value) if hooks_of_all else value

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, or None in its place, under a name that is free."""
        if isinstance(param, Tensor) and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express '{name}' as "
                "a function of another Tensor, compute the value in the forward() method."
            )
        self._register("_parameters", Parameter, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is no parameter but moves and is saved with the module (saved only if ``persistent``)."""
        self._register("_buffers", Tensor, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a module under a name that is free."""
        self._register("_modules", Module, name, module)

    register_module = add_module

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as ``"encoder.0"``; ``""`` is this one.

        Raises:
            AttributeError: there is none.
        """
        found: Module = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{found._get_name()} has no attribute `{name}`")
            below = getattr(found, name)
            if not isinstance(below, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            found = below
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module at a path such as ``"encoder.0"``; with ``strict`` one must stand there already.

        Raises:
            ValueError: the path is empty, or ``module`` is no module.
            AttributeError: there is no module to put it in, or none to replace.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`{module}` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict and not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        if hasattr(owner, name) and not isinstance(getattr(owner, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(owner, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as ``"encoder.0.weight"``."""
        found = self._at(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path."""
        path, _, name = target.rpartition(".")
        found = self._at(target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _at(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        return getattr(owner, name)

    # ---- walks

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once (or as often as it is used), with their paths."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it, each once (or as often as it is used)."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that this one owns itself, each once."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules that this one owns itself, each once."""
        return (module for _, module in self.named_children())

    def _named(self, table: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        return self._named_members(lambda m: m.__dict__[table].items(), prefix, recurse, remove_duplicate)

    def _named_members(
        self, get_members_fn: Callable[[Module], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """What a function finds in each module, with its path."""
        seen: set[int] = set()
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in walk:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with their paths; those of the modules below too if ``recurse``."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once: what an optimizer takes."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their paths."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Calls ``fn`` on every module below, and on this one last."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- state of all of it

    def train(self: M, mode: bool = True) -> M:
        """Sets ``training``, which dropout and batch norm look at, here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: M) -> M:
        """``train(False)``."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Says of all parameters whether they require grad."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of all parameters, or makes them zero in place."""
        for p in self.parameters():
            if set_to_none or p.grad is None:
                p.grad = None
            else:
                p.grad = core.zeros_like(p.grad)

    def share_memory(self: M) -> M:
        """Moves parameters, their gradients and buffers to where other processes can see them; see `Tensor.share_memory_`."""
        for t in (*self.parameters(), *self.buffers()):
            t.share_memory_()
            if t.grad is not None:
                t.grad.share_memory_()
        return self

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        """What `to` and its kin call, on every module: a subclass that keeps tensors of its own overrides it."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for name, p in self._parameters.items():
            if p is not None:
                self._parameters[name] = converted(p, fn)
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Moves and casts all parameters and buffers in place: ``to(device)``, ``to(dtype)``, ``to(device, dtype)``, ``to(tensor)``.

        Integers keep their type.

        Raises:
            TypeError: the dtype is neither floating-point nor complex.
        """
        device, dtype, _, layout = parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

        def convert(t: Tensor) -> Tensor:
            moved = t if device is None else t.to(device)
            moved = moved.to(dtype) if dtype is not None and (t.is_floating_point() or t.is_complex()) else moved
            return moved.contiguous(memory_format=layout) if layout is not None and t.dim() in (4, 5) else moved

        return self._apply(convert)

    def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
        """Moves everything to a device without its values."""
        return self._apply(lambda t: core.empty_like(t, device=device), recurse)

    def cpu(self: M) -> M:
        """Moves everything to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self: M, device: Any = None) -> M:
        """Moves everything to a GPU."""
        return self.to("cuda" if device is None else device)

    def float(self: M) -> M:
        """Casts what is floating-point to float32."""
        return self._cast(core.float32)

    def double(self: M) -> M:
        """Casts what is floating-point to float64."""
        return self._cast(core.float64)

    def half(self: M) -> M:
        """Casts what is floating-point to float16."""
        return self._cast(core.float16)

    def bfloat16(self: M) -> M:
        """Casts what is floating-point to bfloat16."""
        return self._cast(core.bfloat16)

    def type(self: M, dst_type: core.dtype) -> M:
        """Casts everything."""
        return self._apply(lambda t: t.to(dst_type))

    def _cast(self: M, dtype: core.dtype) -> M:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    # ---- as text

    def _replicate_for_data_parallel(self: M) -> M:
        replica = type(self).__new__(type(self))
        tables = {"_parameters": {}, "_buffers": self._buffers.copy(), "_modules": self._modules.copy()}
        replica.__dict__.update(self.__dict__, **tables, _is_replica=True)
        return replica

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        below = [f"({name}): {_addindent(repr(module))}" for name, module in self._modules.items()]
        if not below:
            return f"{self._get_name()}({_addindent(extra)})"
        lines = [*(extra.split("\n") if extra else []), *below]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _addindent(text: str, spaces: int = 2) -> str:
    """The text, all lines of which but the first are indented."""
    return text.replace("\n", "\n" + spaces * " ")


def _type_name(value: Any) -> str:
    return value.type() if isinstance(value, Tensor) else type(value).__name__


def _expected(kind: type) -> str:
    library = core._core._library()
    return {Parameter: f"{library}.nn.Parameter", Module: f"{library}.nn.Module", Tensor: f"{library}.Tensor"}[kind]


_WHAT = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}
_KINDS: tuple[tuple[str, Any], ...] = (("_parameters", Parameter), ("_modules", Module), ("_buffers", Tensor))
