"""Who is asked about a call by `__torch_dispatch__`: the modes of the thread, the innermost first, then the classes of the operands."""

from __future__ import annotations

import threading
from typing import Any

from adjoint_core import Tensor

from .. import _engine
from ..operators import answering, ops
from .forms import Form, form_of

_stack = threading.local()


def modes() -> list[Any]:
    """The modes of this thread, the outermost first."""
    if not hasattr(_stack, "modes"):
        _stack.modes = []
    return _stack.modes


def _classes(args: Any) -> list[type]:
    """The classes that answer, each once, subclasses before what they derive from, else from left to right."""
    found: list[type] = []
    for t in args:
        cls = type(t)
        if not isinstance(t, Tensor) or cls in found or cls.__torch_dispatch__ is Tensor.__torch_dispatch__:  # type: ignore[attr-defined]
            continue
        place = next((i for i, other in enumerate(found) if issubclass(cls, other)), len(found))
        found.insert(place, cls)
    return found


def ask(func: Any, operands: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the first who has an answer answers to ``func(*args, **kwargs)``."""
    classes = _classes(operands)
    if stack := modes():
        mode = stack.pop()
        _engine.set_dispatch_modes(len(stack))
        try:
            result = mode.__torch_dispatch__(func, tuple(classes), args, kwargs)
        finally:
            stack.append(mode)
            _engine.set_dispatch_modes(len(stack))
        if result is not NotImplemented:
            return result
    for cls in classes:
        if (result := cls.__torch_dispatch__(func, tuple(classes), args, kwargs)) is not NotImplemented:  # type: ignore[attr-defined]
            return result
    raise TypeError(
        f"Multiple dispatch failed for '{func}'; all __torch_dispatch__ handlers returned NotImplemented: {classes}"
    )


class _Running:
    """A call that is being answered: whoever answers may run it, on other operands too."""

    def __init__(self, form: Form, call: Any) -> None:
        self.form, self.call = form, call

    def __enter__(self) -> Form:
        answering().append(self)
        return self.form

    def __exit__(self, *error: object) -> None:
        answering().pop()


def answer(call: Any, operands: list[Any]) -> Any:
    """The results of a call."""
    with _Running(form_of(call, operands), call) as form:
        result = ask(form.func, operands, form.args, form.kwargs)
    return list(result) if call.outputs > 1 and isinstance(result, (tuple, list)) else [result]


class _Detaching:
    @staticmethod
    def run(operands: list[Any]) -> list[Tensor]:
        return [_engine.detach(operands[0])]


def answer_detach(t: Tensor) -> Tensor:
    """The tensor without history."""
    with _Running(Form(ops.aten.detach.default, (t,), {}, (0,)), _Detaching) as form:
        return ask(form.func, (t,), form.args, form.kwargs)
