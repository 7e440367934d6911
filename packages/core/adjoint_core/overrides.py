"""`overrides`: the protocol `__torch_function__`, by which classes answer calls of functions, methods, properties and operators themselves.

A subclass of `Tensor`, or any class, with a classmethod `__torch_function__(cls, func, types, args, kwargs)` is asked before `func` runs
on one of its objects; `super().__torch_function__` runs it and makes its results instances of the subclass. A `TorchFunctionMode` is asked
about every call of its thread. See docs/overrides.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._compose import faces
from ._core import Tensor
from ._protocol import DisableTorchFunction as DisableTorchFunction
from ._protocol import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._protocol import ask, modes, nowrap, overloaded
from ._tensor.subclasses import patch_tensor

__all__ = [
    "BaseTorchFunctionMode", "DisableTorchFunction", "DisableTorchFunctionSubclass", "TorchFunctionMode", "get_default_nowrap_functions",
    "get_ignored_functions", "get_overridable_functions", "handle_torch_function", "has_torch_function", "has_torch_function_unary",
    "has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the objects, or a mode, answers calls.

    Example::

        >>> ad.overrides.has_torch_function((ad.ones(2), 1.0))
        False
    """
    return _core._is_answered(tuple(relevant_args))


def has_torch_function_unary(x: Any) -> bool:
    """`has_torch_function((x,))`.

    Example::

        >>> ad.overrides.has_torch_function_unary(ad.ones(2))
        False
    """
    return _core._is_answered((x,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function(args)`.

    Example::

        >>> ad.overrides.has_torch_function_variadic(ad.ones(2), 1)
        False
    """
    return _core._is_answered(args)


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the modes and the objects of `relevant_args` answer to `public_api(*args, **kwargs)`.

    Raises:
        TypeError: all of them answer `NotImplemented`.
    """
    return ask(public_api, relevant_args, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Any], Any]:
    """A decorator: the function asks the objects that `dispatcher`, called with its arguments, gives."""

    def decorate(func: Any) -> Any:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            return ask(wrapped, relevant, args, kwargs) if has_torch_function(relevant) else func(*args, **kwargs)

        return wrapped

    return decorate


# ---- modes


class TorchFunctionMode:
    """Inside of `with mode:`, `mode.__torch_function__(func, types, args, kwargs)` is asked about every call in this thread.

    While it answers, the mode itself is not asked, so that it may call `func`.

    Example::

        >>> class Log(ad.overrides.TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
        >>> with Log():
        ...     y = ad.ones(2).exp() + 1
        ones
        exp
        add
    """

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Answers the call."""
        raise NotImplementedError(f"{type(self).__name__}: __torch_function__ is not defined")

    def __enter__(self) -> Any:
        patch_tensor(1)
        modes().append(self)
        _core._set_modes(len(modes()))
        return self

    def __exit__(self, *error: object) -> None:
        modes().pop()
        _core._set_modes(len(modes()))
        patch_tensor(-1)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """An instance: an older spelling."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that runs every call as it is."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Runs the call."""
        return func(*args, **(kwargs or {}))


# ---- what there is


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or of a class that answers calls.

    Example::

        >>> ad.overrides.is_tensor_like(ad.ones(2)), ad.overrides.is_tensor_like(1)
        (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def get_default_nowrap_functions() -> set[Any]:
    """Functions whose results are not made instances of a subclass."""
    return nowrap()


def get_ignored_functions() -> set[Any]:
    """Functions of the top that nobody is asked about, because they take no tensors.

    Example::

        >>> ad.ones in ad.overrides.get_ignored_functions()
        True
    """
    factories = (
        "arange empty eye full linspace logspace ones rand randint randn randperm tensor zeros as_tensor from_numpy".split()
    )
    return {getattr(_core, name) for name in factories if hasattr(_core, name)}


@functools.cache
def get_overridable_functions() -> dict[Any, list[Any]]:
    """For each namespace the functions that objects are asked about.

    Example::

        >>> ad.sin in ad.overrides.get_overridable_functions()[ad]
        True
    """
    ignored, found = get_ignored_functions(), {}
    for space in (*faces(), Tensor):
        values = (getattr(space, name) for name in dir(space) if not name.startswith("_"))
        found[space] = [v for v in values if type(v) in (_DIRECT, _METHOD) and v not in ignored]
    return found


_DIRECT, _METHOD = type(_core.exp), type(Tensor.__dict__["exp"])


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether it is a method of `Tensor`, or reads or writes a property of it.

    Example::

        >>> ad.overrides.is_tensor_method_or_property(ad.Tensor.sin)
        True
    """
    return func in get_overridable_functions()[Tensor] or getattr(func, "__name__", "") in ("__get__", "__set__")


def resolve_name(f: Any) -> str | None:
    """The name under which a function is found: `"torch.Tensor.add"`.

    Example::

        >>> ad.overrides.resolve_name(ad.Tensor.sin)
        'adjoint.Tensor.sin'
    """
    for space, functions in get_overridable_functions().items():
        if f in functions:
            return f"{_core._library()}.Tensor.{f.__name__}" if space is Tensor else f"{space.__name__}.{f.__name__}"
    name, owner = getattr(f, "__name__", None), getattr(f, "__self__", None)
    slot = owner if name in ("__get__", "__set__") else f
    if isinstance(slot, property):
        found = next((n for kind in Tensor.__mro__ for n, value in vars(kind).items() if value is slot), None)
        return found and f"{_core._library()}.Tensor.{found}.{name}"
    if getattr(slot, "__objclass__", object) in Tensor.__mro__[:-1]:
        return f"{_core._library()}.Tensor.{slot.__name__}" + (f".{name}" if slot is owner else "")
    for space in (*faces(), Tensor) if name else ():  # what no object is asked about
        if getattr(space, name, None) is f:
            return f"{_core._library()}.Tensor.{name}" if space is Tensor else f"{space.__name__}.{name}"
    return None


def _get_overloaded_args(relevant_args: Iterable[Any], get_type_fn: Callable[[Any], type] = type) -> list[Any]:
    """The objects that are asked, in the order in which they are."""
    return overloaded(relevant_args)


def _get_current_function_mode_stack() -> list[Any]:
    """The modes of this thread, the outermost first."""
    return list(modes())
