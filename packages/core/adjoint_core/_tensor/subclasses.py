"""Subclasses of `Tensor` whose `__torch_function__` is asked: their operators, properties and methods written in Python ask it.

What is asked stands in the subclass, so that tensors of the exact class pay nothing; while a mode is entered it stands in `Tensor` too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import _core
from .._core import Tensor
from .._protocol import answer, run


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """As `__torch_function__` of a class: it takes no part, and operations on its instances give plain tensors."""
    return NotImplemented


_core._takes_no_part(_disabled_torch_function_impl)

# Which method an operator is for those who are asked; all others are asked under their own name.
_METHOD_OF = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div", "__mod__": "remainder",
    "__pow__": "pow", "__matmul__": "matmul", "__lt__": "lt", "__le__": "le", "__ne__": "ne", "__rtruediv__": "__rdiv__", "__gt__": "gt", "__ge__": "ge", "__neg__": "neg",
    "__pos__": "positive", "__abs__": "abs", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_", "__ipow__": "pow_", "__imod__": "remainder_", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
}  # fmt: skip
_SILENT = {
    "__hash__", "__setattr__", "__delattr__", "__delitem__", "__dict__", "__new__", "__init_subclass__", "__torch_function__", "__torch_dispatch__", "__class__",
    "__dir__", "__cuda_array_interface__", "_backward_hooks", "__doc__", "__module__", "__getattribute__", "as_subclass",
}  # fmt: skip
_armed = False
_waiting: list[Callable[[], None]] = []
_modes_entered = 0
_lock = threading.RLock()
_originals: dict[str, Any] = {}


def _asking_method(name: str, original: Any) -> Any:
    func = Tensor.__dict__.get(_METHOD_OF.get(name, name), original)
    straight = "__" + name[3:]  # what a reflected operator reflects
    forward = _METHOD_OF.get(straight, straight) if name.startswith("__r") and straight in Tensor.__dict__ else None

    def ask(*args: Any, **kwargs: Any) -> Any:
        if not _core._is_answered((*args, *kwargs.values())):
            return original(*args, **kwargs)
        if forward and isinstance(args[1], Tensor):
            return answer(Tensor.__dict__[forward], args[::-1], kwargs)
        return answer(func, args, kwargs)

    ask.__name__, ask.__doc__ = name, getattr(original, "__doc__", None)
    return ask


def _asking_property(original: Any) -> Any:
    def read(self: Tensor) -> Any:
        if not _core._is_answered((self,)):
            return original.__get__(self, type(self))
        return answer(original.__get__, (self,), {})

    def write(self: Tensor, value: Any) -> None:
        if not _core._is_answered((self,)):
            original.__set__(self, value)
            return
        answer(original.__set__, (self, value), {})

    return property(read, write, doc=original.__doc__)


def _asking(name: str, original: Any) -> Any:
    """What stands in for an attribute of `Tensor`; None: itself, which asks already or need not."""
    kind = type(original).__name__
    if name in _SILENT:
        return None
    if name == "__iter__":
        return lambda self: iter(self.unbind(0)) if _core._is_answered((self,)) else original(self)
    if kind in ("wrapper_descriptor", "function"):
        return _asking_method(name, original)
    return _asking_property(original) if kind in ("getset_descriptor", "property") else None


def when_asked(prepare: Callable[[], None]) -> None:
    """Calls ``prepare`` before the first class or mode is asked: for what is short as long as nobody is."""
    with _lock:
        if not _armed:
            _waiting.append(prepare)
            return
    prepare()


def _arm() -> None:
    global _armed
    if not _armed:
        _armed = True
        while _waiting:
            _waiting.pop()()
        for name, value in Tensor.__dict__.items():
            if isinstance(value, FunctionType):
                value.__name__ = name  # which those who are asked may look at
        _core._arm_protocol()


def _found(cls: type, name: str) -> Any:
    """What the class or the nearest of its bases has under a name, not bound to anything."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def prepare(cls: type[Tensor]) -> None:
    """Lets operations on instances of a new subclass ask it, unless it takes no part."""
    if getattr(cls, "__torch_dispatch__", None) is not getattr(Tensor, "__torch_dispatch__", None):
        _core._arm_dispatch()
    own = _found(cls, "__torch_function__")
    if getattr(cls.__torch_function__, "__func__", cls.__torch_function__) is _disabled_torch_function_impl or own is None:
        return
    _arm()
    for name, original in (_originals or dict(Tensor.__dict__)).items():
        if _found(cls, name) is Tensor.__dict__.get(name) and (asking := _asking(name, original)) is not None:
            type.__setattr__(cls, name, asking)


def patch_tensor(change: int) -> None:
    """A mode is entered (1) or left (-1): between the first and the last, operators of `Tensor` itself ask too."""
    global _modes_entered
    with _lock:
        _arm()
        before, _modes_entered = _modes_entered, _modes_entered + change
        if before == 0:
            for name, original in dict(Tensor.__dict__).items():
                if (asking := _asking(name, original)) is not None:
                    _originals[name] = original
                    setattr(Tensor, name, asking)
        elif _modes_entered == 0:
            for name, original in _originals.items():
                setattr(Tensor, name, original)
            _originals.clear()


def _init_subclass(cls: type[Tensor], **kwargs: Any) -> None:
    super(Tensor, cls).__init_subclass__(**kwargs)
    prepare(cls)


def _torch_function(cls: type[Tensor], func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """Runs `func`, and makes tensors among its results instances of this class."""
    return run(cls, func, types, args, kwargs)


Tensor.__init_subclass__ = classmethod(_init_subclass)  # type: ignore[assignment,method-assign]
Tensor.__torch_function__ = classmethod(_torch_function)  # type: ignore[attr-defined]
