"""Hooks around every module: what `nn.modules.module` of PyTorch registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_engine.graph import RemovableHandle

from .hooks import called, hooks_of_all, of_all, register

__all__ = [
    "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip


def _of_all(kind: str, hook: Callable[..., Any], *how: bool) -> RemovableHandle:
    return register(hooks_of_all, (kind, (called(hook), *how) if how else called(hook)))


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, args)`` before ``forward`` of every module."""
    return _of_all("forward_pre", hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls ``hook(module, args, output)`` after ``forward`` of every module, as ``Module.register_forward_hook`` does for one.

    Example::

        >>> handle = ad.nn.modules.module.register_module_forward_hook(lambda module, args, output: print(type(module).__name__))
        >>> y = ad.nn.Sequential(ad.nn.Tanh())(ad.zeros(1))
        Tanh
        Sequential
        >>> handle.remove()
    """
    return _of_all("forward", hook, with_kwargs, always_call)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, grad_output)`` before backward passes any module."""
    return _of_all("backward_pre", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, grad_input, grad_output)`` after backward passed any module."""
    return _of_all("backward", hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``Module.register_backward_hook``, of every module."""
    return _of_all("older_backward", hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, parameter)`` when a module gets a parameter; what it returns, if not None, takes its place."""
    return _of_all("parameter", hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, buffer)`` when a module gets a buffer; what it returns, if not None, takes its place."""
    return _of_all("buffer", hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, submodule)`` when a module gets another one; what it returns, if not None, takes its place."""
    return _of_all("module", hook)


def registered(module: Any, kind: str, name: str, value: Any) -> Any:
    """What the hooks make of a part that a module gets."""
    for hook in of_all(kind):
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value
