"""Modes of the current thread: no_grad, enable_grad, set_grad_enabled, inference_mode, and two switches."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .. import _engine
from .thread_locals import Local

_GENERATOR = 0x20  # inspect.CO_GENERATOR, whose module takes a tenth of the time of import

is_grad_enabled = _engine.grad_enabled


class DecoratorContextManager:
    """A context manager that is a decorator too; generators run each step in the mode."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        """Another one of the same mode."""
        return type(self)()

    def __call__(self, function: Any) -> Any:
        if isinstance(function, type):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
                "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
                "and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            function.__init__ = self(function.__init__)
            return function
        if getattr(getattr(function, "__code__", None), "co_flags", 0) & _GENERATOR:
            return _wrap_generator(self.clone, function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapper


def _wrap_generator(mode: Callable[[], DecoratorContextManager], function: Callable[..., Any]) -> Callable[..., Any]:
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


class no_grad(DecoratorContextManager):
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
        return self if function is None else DecoratorContextManager.__call__(self, function)

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


class set_grad_enabled(DecoratorContextManager):
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

    def clone(self) -> set_grad_enabled:
        """Another one of the same mode."""
        return set_grad_enabled(self.mode)

    def __call__(self, function: Any) -> Any:
        _engine.set_window(*self._window)
        return super().__call__(function)


class inference_mode(DecoratorContextManager):
    """``no_grad`` for code that will never need gradients of what it makes: its tensors have no version counter.

    Arguments:
        mode: False switches an enclosing ``inference_mode`` off.

    Example::

        >>> with ad.inference_mode():
        ...     y = ad.ones(2) * 2
        >>> y.is_inference()
        True
    """

    def __new__(cls, mode: Any = True) -> Any:
        self = super().__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__(True)
        return self(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode if isinstance(mode, bool) else True

    def clone(self) -> inference_mode:
        """Another one of the same mode."""
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self._before = _engine.inference_enabled(), _engine.window()
        _engine.set_inference(self.mode)
        if self.mode or self._before[0]:
            _engine.set_grad_enabled(not self.mode)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        inference, window = self._before
        _engine.set_inference(inference)
        _engine.set_window(*window)


def is_inference_mode_enabled() -> bool:
    """Whether the current thread is in inference mode.

    Example::

        >>> ad.is_inference_mode_enabled()
        False
    """
    return _engine.inference_enabled()


class _Switch(DecoratorContextManager):
    """A flag of the thread: set at once as a function, restored at the end of the block as a context manager."""

    def __init__(self, mode: bool) -> None:
        self.prev = self._get()
        self.mode = bool(mode)
        self._set(self.mode)

    @staticmethod
    def _get() -> bool:
        raise NotImplementedError

    @staticmethod
    def _set(mode: bool) -> None:
        raise NotImplementedError

    def __enter__(self) -> None:
        self._set(self.mode)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._set(self.prev)

    def clone(self) -> Any:
        """Another one of the same mode."""
        return type(self)(self.mode)

    def __call__(self, function: Any) -> Any:
        self._set(self.prev)
        return super().__call__(function)


class enforce_grad_layout_policy(_Switch):
    """Whether a first gradient is laid out like its leaf (the default), or taken as it comes, without a copy.

    Example::

        >>> x = ad.ones(2, 3).t().requires_grad_()
        >>> with ad.autograd.enforce_grad_layout_policy(False):
        ...     (x * 2).sum().backward()
    """

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)

    @staticmethod
    def _get() -> bool:
        return _engine.grad_layout_policy()

    @staticmethod
    def _set(mode: bool) -> None:
        _engine.set_grad_layout_policy(mode)


_thread = Local()


class _ThreadFlag(_Switch):
    """A flag that only Python knows."""

    _default = True

    @classmethod
    def _get(cls) -> bool:
        return getattr(_thread, cls.__name__, cls._default)

    @classmethod
    def _set(cls, mode: bool) -> None:
        setattr(_thread, cls.__name__, mode)


class set_multithreading_enabled(_Switch):
    """Whether backward may use other threads: at once as a function, or for a block.

    Example::

        >>> with ad.autograd.set_multithreading_enabled(False):
        ...     ad.autograd.is_multithreading_enabled()
        False
    """

    @staticmethod
    def _get() -> bool:
        return _engine.multithreading()

    @staticmethod
    def _set(mode: bool) -> None:
        _engine.set_multithreading(mode)


def is_multithreading_enabled() -> bool:
    """Whether backward may use other threads than the caller's: each GPU has one, on which its nodes and their hooks run, one
    at a time. Nodes of the CPU run on the caller's.

    Example::

        >>> ad.autograd.is_multithreading_enabled()
        True
    """
    return set_multithreading_enabled._get()


class _force_original_view_tracking(_ThreadFlag):
    """Kept for code that sets it: views whose base was written to are always replayed, so the flag changes nothing.

    Example::

        >>> with ad.autograd._force_original_view_tracking(True):
        ...     ad.autograd.is_view_replay_enabled()
        True
    """

    _default = False


def is_view_replay_enabled() -> bool:
    """What `_force_original_view_tracking` says.

    Example::

        >>> ad.autograd.is_view_replay_enabled()
        False
    """
    return _force_original_view_tracking._get()
