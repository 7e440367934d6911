"""Who is asked about a call by `__torch_function__`, and what results become. See overrides.py, which is the public part."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from . import _core
from ._core import Tensor

_stack = threading.local()


def modes() -> list[Any]:
    if not hasattr(_stack, "modes"):
        _stack.modes = []
    return _stack.modes


# ---- asking


def overloaded(args: Iterable[Any]) -> list[Any]:
    """The objects that answer, one of each class, subclasses before what they derive from, else from left to right."""
    found: list[Any] = []
    for arg in args:
        if not _core._answers(arg) or any(type(arg) is type(other) for other in found):
            continue
        place = next((i for i, other in enumerate(found) if issubclass(type(arg), type(other))), len(found))
        found.insert(place, arg)
    return found


def _flat(args: Iterable[Any]) -> Iterator[Any]:
    for arg in args:
        yield from arg if type(arg) in (list, tuple) else (arg,)


def ask(func: Any, relevant: Iterable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    objects = overloaded(relevant) if _core._protocol_off() == 0 else []
    types = tuple(map(type, objects))
    if stack := modes():
        mode = stack.pop()
        _core._set_modes(len(stack))
        try:
            result = mode.__torch_function__(func, types, args, kwargs)
        finally:
            stack.append(mode)
            _core._set_modes(len(stack))
        if result is not NotImplemented:
            return result
    for o in objects:
        if (result := type(o).__torch_function__(func, types, args, kwargs)) is not NotImplemented:
            return result
    name = getattr(func, "__name__", func)
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")


def answer(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the first of those who are asked answers to `func(*args, **kwargs)`."""
    return ask(func, _flat((*args, *kwargs.values())), args, kwargs)


class _Off:
    _level: int

    def __enter__(self) -> None:
        self._before = _core._set_protocol_off(max(self._level, _core._protocol_off()))

    def __exit__(self, *error: object) -> None:
        _core._set_protocol_off(self._before)


class DisableTorchFunctionSubclass(_Off):
    """Inside of the `with`, classes are not asked; modes are.

    Example::

        >>> class Shout(ad.Tensor):
        ...     pass
        >>> with ad.overrides.DisableTorchFunctionSubclass():
        ...     type(ad.ones(2).as_subclass(Shout) + 1).__name__
        'Tensor'
    """

    _level = 1


class DisableTorchFunction(_Off):
    """Inside of the `with`, nobody is asked."""

    _level = 2


# ---- subclasses of Tensor


def _converted(result: Any, cls: type[Tensor]) -> Any:
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_converted(r, cls) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def run(cls: type[Tensor], func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """Runs `func`, and makes tensors among its results instances of this class."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in nowrap() else _converted(result, cls)


@functools.cache
def nowrap() -> set[Any]:
    return {Tensor.__dict__[name].__get__ for name in ("_base", "grad")}
