"""Switches that programs for PyTorch set, and what they say here; checks of conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core import device as Device
from adjoint_core.overrides import handle_torch_function, has_torch_function

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device", "get_deterministic_debug_mode", "get_device_module",
    "is_deterministic_algorithms_warn_only_enabled", "set_default_device", "set_deterministic_debug_mode", "use_deterministic_algorithms",
]  # fmt: skip

_deterministic = {"mode": False, "warn_only": False}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Says whether results must have the same bits every time. They have: sums run in a fixed order; what is set is remembered.

    Example::

        >>> ad.use_deterministic_algorithms(True); ad.are_deterministic_algorithms_enabled()
        True
        >>> ad.use_deterministic_algorithms(False)
    """
    _deterministic.update(mode=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told.

    Example::

        >>> ad.are_deterministic_algorithms_enabled()
        False
    """
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What `use_deterministic_algorithms` was told.

    Example::

        >>> ad.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return _deterministic["warn_only"]


_DEBUG_MODES = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a word or its number: "default", "warn" or "error".

    Raises:
        RuntimeError: another one.

    Example::

        >>> ad.set_deterministic_debug_mode('default')
    """
    found = _DEBUG_MODES.index(debug_mode) if debug_mode in _DEBUG_MODES else debug_mode
    if found not in (0, 1, 2):
        raise RuntimeError(f"set_deterministic_debug_mode: expected one of {_DEBUG_MODES} or its number, got {debug_mode!r}")
    use_deterministic_algorithms(found > 0, warn_only=found == 1)  # type: ignore[operator]


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: default, warn or error.

    Example::

        >>> ad.get_deterministic_debug_mode()
        0
    """
    return (2 - _deterministic["warn_only"]) if _deterministic["mode"] else 0


def get_default_device() -> Device:
    """Where new tensors lie if nothing else is said: the CPU, what `set_default_device` says, or the device of the innermost ``with device:``.

    Example::

        >>> ad.get_default_device()
        device(type='cpu')
    """
    return _core._default_device()


def get_device_module(device: Any = None) -> Any:
    """The room of a device, `cpu` or `cuda`, by its name; of the one where new tensors lie if none is given.

    Example::

        >>> ad.get_device_module("cpu") is ad.cpu
        True
    """
    import importlib

    kind = (get_default_device() if device is None else _core.device(device)).type
    if kind not in ("cpu", "cuda"):
        raise RuntimeError(f"Invalid device module for {kind} devices")
    return importlib.import_module(f"adjoint.{kind}")


def set_default_device(device: Any) -> None:
    """Says where this thread's new tensors lie if nothing else is said; None: on the CPU again.

    ``with device:`` says it for a block.

    Example::

        >>> ad.set_default_device('cpu')
    """
    _core._set_default_device(None if device is None else Device(device))


class _Failed(AssertionError, RuntimeError):
    """What `_assert` raises: a RuntimeError, too, as which a script of PyTorch's lets it out; here scripts are the functions themselves."""


def _assert(condition: Any, message: str) -> None:
    """`assert`, as a function, which objects that answer for torch functions see: a traced condition is a step of the program."""
    if not isinstance(condition, Tensor) and has_torch_function((condition,)):
        handle_torch_function(_assert, (condition,), condition, message)
        return
    if not condition:
        raise _Failed(message)


def _assert_async(input: Tensor, assert_msg: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """RuntimeError unless the tensor's one element is true; the device is waited for."""
    if not isinstance(input, Tensor):
        raise TypeError(f"_assert_async(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if not input:
        raise RuntimeError(assert_msg)


def _check(cond: Any, message: Callable[[], str] | str | None = None) -> None:
    """RuntimeError unless the condition holds."""
    _check_with(RuntimeError, cond, message)


def _check_with(error: type[Exception], cond: Any, message: Callable[[], str] | str | None) -> None:
    if not cond:
        raise error(message() if callable(message) else message or "Expected cond to be True, but got False")
