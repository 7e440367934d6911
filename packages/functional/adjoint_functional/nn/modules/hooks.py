"""Calling a module, and the hooks around it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from adjoint_core import Tensor
from adjoint_engine import Function
from adjoint_engine.graph import RemovableHandle


class Hook(NamedTuple):
    """A hook around ``forward``."""

    function: Callable[..., Any]
    with_kwargs: bool = False
    always: bool = False

    def __call__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *output: Any) -> Any:
        return self.function(module, args, kwargs, *output) if self.with_kwargs else self.function(module, args, *output)


class Calls:
    """``module(...)``: ``forward`` with the hooks that were registered."""

    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_hooks: OrderedDict[int, Hook]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks):
            return self.forward(*args, **kwargs)
        pending = dict(self._forward_hooks)
        try:
            return _call(self, args, kwargs, pending)
        except Exception:
            for hook in pending.values():
                if hook.always:
                    hook(self, args, kwargs, None)
            raise

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args)`` before ``forward``; what it returns, if not None, replaces the arguments.

        With ``with_kwargs``: ``hook(module, args, kwargs)``, which returns None or both. ``prepend`` puts it before the others.
        """
        return register(self._forward_pre_hooks, Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args, output)`` after ``forward``; what it returns, if not None, replaces the output.

        With ``with_kwargs``: ``hook(module, args, kwargs, output)``. With ``always_call`` also when ``forward`` raises.

        Example::

            >>> layer = ad.nn.Identity()
            >>> handle = layer.register_forward_hook(lambda module, args, output: output * 2)
            >>> layer(ad.ones(2))
            tensor([2., 2.])
        """
        return register(self._forward_hooks, Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_output)`` before backward passes the module; what it returns replaces ``grad_output``."""
        return register(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` after backward passed the module; what it returns replaces ``grad_input``.

        Both are tuples with one entry per argument and output, None for what is no tensor.

        Example::

            >>> layer = ad.nn.Tanh()
            >>> handle = layer.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input))
            >>> layer(ad.zeros(1, requires_grad=True)).backward()
            (tensor([1.]),)
        """
        return register(self._backward_hooks, hook, prepend)


def register(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], pending: dict[int, Hook]) -> Any:
    for hook in list(module._forward_pre_hooks.values()):
        changed = hook(module, args, kwargs)
        if changed is None:
            continue
        if hook.with_kwargs:
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        else:
            args = changed if isinstance(changed, tuple) else (changed,)
    around = _Backward(module) if module._backward_hooks or module._backward_pre_hooks else None
    output = module.forward(*(around.enter(args) if around else args), **kwargs)
    for key in list(pending):
        changed = pending.pop(key)(module, args, kwargs, output)
        output = output if changed is None else changed
    return around.leave(output) if around else output


class BackwardHookFunction(Function):
    """Identity: a node to hang hooks on. What it hands on must not be written in place, as the hooks would be lost."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return grads


class _Backward:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks, self.pre_hooks = list(module._backward_hooks.values()), list(module._backward_pre_hooks.values())
        self.inputs = self.outputs = ()  # what stands where in the arguments, and in the result
        self.entered = False  # the arguments have a node
        self.grad_output: tuple[Tensor | None, ...] | None = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.inputs = args
        args, node = _through(args)
        self.entered = node is not None
        if node is not None:
            node.register_hook(lambda grads, _: self.finish(grads))
        return args

    def leave(self, output: Any) -> Any:
        self.outputs = output if isinstance(output, tuple) else (output,)
        results, node = _through(self.outputs)
        if node is not None:
            node.register_hook(lambda grads, _: self.start(grads))
        return results if isinstance(output, tuple) else results[0]

    def start(self, grads: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
        found = _spread(self.outputs, grads)
        for hook in self.pre_hooks:
            found = _replaced(hook(self.module, found), found, "pre hook", "grad_output")
        if self.entered:
            self.grad_output = found
        else:
            if self.hooks:
                warnings.warn(
                    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients.",
                    stacklevel=2,
                )
            for hook in self.hooks:
                changed = hook(self.module, (None,) * len(self.inputs), found)
                if changed is not None and any(g is not None for g in changed):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
                    )
        return _tensors_of(self.outputs, found)

    def finish(self, grads: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...] | None:
        if self.grad_output is None:  # the gradient came by another way than the module's output
            return None
        found = _spread(self.inputs, grads)
        for hook in self.hooks:
            found = _replaced(hook(self.module, found, self.grad_output), found, "hook", "grad_input")
        self.grad_output = None
        return _tensors_of(self.inputs, found)


def _through(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """The values, whose tensors went through one node; the node, if any of them requires grad."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    if not any(t.requires_grad for t in tensors):
        return values, None
    passed = BackwardHookFunction.apply(*tensors)
    node = next((t.grad_fn for t in passed if t.grad_fn is not None), None)
    rest = iter(passed)
    return tuple(next(rest) if isinstance(v, Tensor) else v for v in values), node


def _spread(values: Sequence[Any], grads: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    rest = iter(grads)
    return tuple(next(rest) if isinstance(v, Tensor) else None for v in values)


def _tensors_of(values: Sequence[Any], grads: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    return tuple(g for v, g in zip(values, grads) if isinstance(v, Tensor))


def _replaced(changed: Any, before: tuple[Any, ...], what: str, name: str) -> tuple[Any, ...]:
    if changed is None:
        return before
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(before):
        raise RuntimeError(
            f"Backward {what} returned an invalid number of {name}, got {len(changed)}, but expected {len(before)}"
        )
    return changed
