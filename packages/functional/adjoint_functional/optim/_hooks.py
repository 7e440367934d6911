"""Hooks of optimizers: around each step, and around saving and loading the state."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adjoint_engine import _engine
from adjoint_engine.graph import RemovableHandle

_of_all: dict[str, OrderedDict[int, Any]] = {"step_pre": OrderedDict(), "step_post": OrderedDict()}


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A method ``step`` with the hooks around it, once where steps call each other."""

    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._in_step:
            return step(self, *args, **kwargs)
        given, options = (self, *args), kwargs
        with self._stepping():
            for hook in (*_of_all["step_pre"].values(), *self._hooks["step_pre"].values()):
                changed = hook(self, given, options)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                    given, options = changed
            result = step(*given, **options)
            if "_opt_called" in vars(self):
                self._opt_called = True
            for hook in (*self._hooks["step_post"].values(), *_of_all["step_post"].values()):
                hook(self, given, options)
        return result

    return run


def _register(hooks: OrderedDict[int, Any], hook: Callable[..., Any], first: bool = False) -> RemovableHandle:
    if not callable(hook):
        raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(optimizer, args, kwargs)`` before each step of every optimizer, before the optimizer's own hooks."""
    return _register(_of_all["step_pre"], hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``hook(optimizer, args, kwargs)`` after each step of every optimizer, after the optimizer's own hooks."""
    return _register(_of_all["step_post"], hook)


class Hooks:
    """What an optimizer needs to have hooks; subclasses may define ``step`` as they like."""

    _in_step = False
    _opt_called = False  # whether a step was taken since a schedule was made, which asks for it, under PyTorch's name
    _hooks = functools.cached_property(
        lambda self: defaultdict(OrderedDict)
    )  # also where a subclass skips ``super().__init__()``

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = hooked(cls.__dict__["step"])  # type: ignore[attr-defined]

    def _patch_step_function(self) -> None:
        """What optimizers that wrap others call in place of ``super().__init__()``: ``step`` has its hooks since its class was made."""

    @contextmanager
    def _stepping(self) -> Iterator[None]:
        self._in_step = True
        shown = self._shown("step")
        try:
            yield
        finally:
            self._in_step = False
        shown.end()

    def _shown(self, method: str) -> Any:
        """A range in profiles until it ends, or is forgotten because of an error; as PyTorch calls it."""
        return _engine.Range(f"Optimizer.{method}#{type(self).__name__}.{method}")

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(optimizer, args, kwargs)`` before each step: ``args`` begins with the optimizer. It may return others as a pair.

        Example::

            >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=0.1)
            >>> handle = optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: print("before"))
            >>> optimizer.step()
            before
        """
        return _register(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``hook(optimizer, args, kwargs)`` after each step."""
        return _register(self._hooks["step_post"], hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer)`` before ``state_dict``; ``prepend`` puts it before the others."""
        return _register(self._hooks["state_dict_pre"], hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer, state_dict)`` after ``state_dict``; it may return another one."""
        return _register(self._hooks["state_dict_post"], hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer, state_dict)`` before ``load_state_dict``, with a copy of the dict; it may return another one."""
        return _register(self._hooks["load_pre"], hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """``hook(optimizer)`` after ``load_state_dict``."""
        return _register(self._hooks["load_post"], hook, prepend)

    def _changed(self, when: str, state: dict[str, Any]) -> dict[str, Any]:
        """What hooks make of a state."""
        for hook in tuple(self._hooks[when].values()):
            changed = hook(self, state)
            state = state if changed is None else changed
        return state


def _table(kind: str) -> property:
    def write(self: Hooks, hooks: OrderedDict[int, Any]) -> None:
        self._hooks[kind] = hooks

    return property(lambda self: self._hooks[kind], write)


_TABLES = {  # PyTorch's names for them
    "step_pre": "step_pre", "step_post": "step_post", "state_dict_pre": "state_dict_pre", "state_dict_post": "state_dict_post",
    "load_pre": "load_state_dict_pre", "load_post": "load_state_dict_post",
}  # fmt: skip
for _kind, _name in _TABLES.items():
    setattr(Hooks, f"_optimizer_{_name}_hooks", _table(_kind))
