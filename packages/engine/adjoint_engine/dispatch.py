"""Modes that answer calls below derivatives: `utils._python_dispatch`. See docs/overrides.md."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from adjoint_core import Tensor

from . import _engine
from ._dispatch.asking import modes
from ._dispatch.makers import Makers

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass"]


class TorchDispatchMode:
    """Inside of ``with mode:``, ``mode.__torch_dispatch__(func, types, args, kwargs)`` answers each operation of this thread.

    It is asked below derivatives, vmap and forward mode, so it sees what runs: also what backward runs. ``func`` is one of ``ops.aten``.
    While it answers, the mode itself is not asked, and nothing is recorded.

    Example::

        >>> class Log(ad.utils._python_dispatch.TorchDispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         print(func)
        ...         return func(*args, **(kwargs or {}))
        >>> x = ad.ones(2, requires_grad=True)
        >>> with Log():
        ...     y = (x.exp() * 2).sum()
        aten.exp.default
        aten.mul.Tensor
        aten.sum.default
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Answers the call."""
        raise NotImplementedError(f"{type(self).__name__}: __torch_dispatch__ is not defined")

    def __enter__(self) -> Any:
        modes().append(self)
        _engine.set_dispatch_modes(len(modes()))
        Makers().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        Makers().__exit__(*error)
        modes().pop()
        _engine.set_dispatch_modes(len(modes()))

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """An instance: an older spelling."""
        return cls(*args, **kwargs)


def _get_current_dispatch_mode() -> Any:
    """The innermost mode, or None."""
    return modes()[-1] if modes() else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes of this thread, the outermost first."""
    return list(modes())


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Inside of the ``with`` no mode is asked."""
    stack = modes()
    before = list(stack)
    stack.clear()
    _engine.set_dispatch_modes(0)
    try:
        yield before
    finally:
        stack[:] = before
        _engine.set_dispatch_modes(len(stack))


class _DisableTorchDispatch:
    """Inside of the ``with`` no class is asked."""

    def __init__(self) -> None:
        self._before = _engine.set_dispatch_off(True)  # PyTorch's holds from the moment when it is made

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _engine.set_dispatch_off(self._before)


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor's class says how it is taken apart and put together: it has ``__tensor_flatten__`` and ``__tensor_unflatten__``."""
    is_subclass = isinstance(t, Tensor) and type(t) is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """The result as it is, or the tensor that an operation in place wrote to."""
    return args[0] if func._opname.endswith("_") and not func._opname.startswith("_") else out
