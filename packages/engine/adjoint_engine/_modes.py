"""Gradient modes of the current thread: no_grad, enable_grad, set_grad_enabled, inference_mode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any

from . import _engine

is_grad_enabled = _engine.grad_enabled


class _Mode:
    """A context manager that is a decorator too; generators run each step in the mode."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        raise NotImplementedError

    def _fresh(self) -> _Mode:
        return type(self)()

    def __call__(self, function: Any) -> Any:
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)
            return function
        if inspect.isgeneratorfunction(function):
            return _wrap_generator(self._fresh, function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return wrapper


def _wrap_generator(mode: Callable[[], _Mode], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with mode():
                response = generator.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with mode():
                        generator.close()
                    raise
                except BaseException as error:
                    with mode():
                        response = generator.throw(error)
                else:
                    with mode():
                        response = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return wrapper


class no_grad(_Mode):
    """Nothing computed inside requires grad.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> with ad.no_grad():
        ...     (x * 2).requires_grad
        False
    """

    _enabled = False

    def __new__(cls, function: Any = None) -> Any:
        self = super().__new__(cls)
        return self if function is None else _Mode.__call__(self, function)

    def __enter__(self) -> None:
        self._window = _engine.window()
        _engine.set_grad_enabled(self._enabled)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _engine.set_window(*self._window)


class enable_grad(no_grad):
    """Undoes an enclosing ``no_grad``.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> with ad.no_grad(), ad.enable_grad():
        ...     (x * 2).requires_grad
        True
    """

    _enabled = True


class set_grad_enabled(_Mode):
    """Turns recording on or off: at once as a function, until the end of the block as a context manager.

    Example::

        >>> with ad.set_grad_enabled(False):
        ...     ad.is_grad_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        self._window = _engine.window()
        self.mode = bool(mode)
        _engine.set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        _engine.set_grad_enabled(self.mode)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _engine.set_window(*self._window)

    def _fresh(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, function: Any) -> Any:
        _engine.set_window(*self._window)
        return super().__call__(function)


_inference_depth: list[bool] = []


class inference_mode(_Mode):
    """``no_grad`` for code that will never need gradients of what it makes.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> with ad.inference_mode():
        ...     (x * 2).requires_grad
        False
    """

    def __new__(cls, mode: Any = True) -> Any:
        self = super().__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__(True)
        return self(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode if isinstance(mode, bool) else True

    def _fresh(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._window = _engine.window()
        _inference_depth.append(self.mode)
        if self.mode:
            _engine.set_grad_enabled(False)
        elif len(_inference_depth) > 1 and _inference_depth[-2]:
            _engine.set_grad_enabled(True)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        _inference_depth.pop()
        _engine.set_window(*self._window)


def is_inference_mode_enabled() -> bool:
    """Whether the current thread is in inference mode."""
    return bool(_inference_depth) and _inference_depth[-1]
