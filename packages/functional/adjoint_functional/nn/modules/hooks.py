"""Calling a module, and the hooks around it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from adjoint_core import Tensor
from adjoint_engine import Function
from adjoint_engine.graph import RemovableHandle

hooks_of_all: OrderedDict[int, tuple[str, Any]] = OrderedDict()
"Hooks around every module, each with what it is called for; see global_hooks.py."


class Calls:
    """``module(...)``: ``forward`` with the hooks that were registered."""

    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None

    def _call_impl(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks or hooks_of_all
        ):
            return self.forward(*args, **kwargs)
        return Call(self).run(args, kwargs)

    __call__: Callable[..., Any] = _call_impl

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args)`` before ``forward``; what it returns, if not None, replaces the arguments.

        With ``with_kwargs``: ``hook(module, args, kwargs)``, which returns None or both. ``prepend`` puts it before the others.
        """
        handle = register(self._forward_pre_hooks, called(hook), prepend, self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

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
        facts = (self._forward_hooks_with_kwargs, self._forward_hooks_always_called)
        handle = register(self._forward_hooks, called(hook), prepend, *facts)
        for fact, given in zip(facts, (with_kwargs, always_call)):
            if given:
                fact[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_output)`` before backward passes the module; what it returns replaces ``grad_output``."""
        return register(self._backward_pre_hooks, called(hook), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` after backward passed the module; what it returns replaces ``grad_input``.

        Both are tuples with one entry per argument and output, None for what is no tensor.

        Example::

            >>> layer = ad.nn.Tanh()
            >>> handle = layer.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input))
            >>> layer(ad.zeros(1, requires_grad=True)).backward()
            (tensor([1.]),)
        """
        called(hook)
        self._keep_apart(full=True)
        return register(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """An older form: ``hook(module, grad_input, grad_output)`` with the gradients of the last node that made the output.

        Raises:
            RuntimeError: the module has full backward hooks.
        """
        called(hook)
        self._keep_apart(full=False)
        return register(self._backward_hooks, hook)

    def _keep_apart(self, full: bool) -> None:
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = full


def called(hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook, if it can be called: what can't would fail in another call than the one that registered it."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
    return hook


def register(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False, *facts: OrderedDict[int, Any]) -> RemovableHandle:
    """Adds a hook. What ``facts`` say about it goes when it goes."""
    handle = RemovableHandle(hooks, extra_dict=list(facts))
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class _Hook(NamedTuple):
    """A hook around ``forward``, as it is called."""

    function: Callable[..., Any]
    with_kwargs: bool
    always: bool = False

    def __call__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *output: Any) -> Any:
        return self.function(module, args, kwargs, *output) if self.with_kwargs else self.function(module, args, *output)


def of_all(kind: str) -> list[Any]:
    """The hooks of all modules that are called for it."""
    return [hook for known, hook in hooks_of_all.values() if known == kind]


class Call:
    """One call of a module that has hooks."""

    def __init__(self, module: Any) -> None:
        self.module = module
        with_kwargs, always = module._forward_hooks_with_kwargs, module._forward_hooks_always_called
        own = [_Hook(f, key in with_kwargs, key in always) for key, f in module._forward_hooks.items()]
        self.pending = [*(_Hook(*given) for given in of_all("forward")), *own]
        self.pre_hooks = [_Hook(f, False) for f in of_all("forward_pre")]
        with_kwargs = module._forward_pre_hooks_with_kwargs
        self.pre_hooks += [_Hook(f, key in with_kwargs) for key, f in module._forward_pre_hooks.items()]

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the module gives, and the hooks make of it."""
        try:
            return self._run(args, kwargs)
        except Exception:
            for hook in self.pending:
                if hook.always:
                    hook(self.module, args, kwargs, None)
            raise

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module = self.module
        args, kwargs = self._before(args, kwargs)
        around, older = _backward_hooks(module)
        output = module.forward(*(around.enter(args) if around else args), **kwargs)
        while self.pending:
            changed = self.pending.pop(0)(module, args, kwargs, output)
            output = output if changed is None else changed
        output = around.leave(output) if around else output
        for hook in older:
            _on_last_node(module, hook, output)
        return output

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for hook in self.pre_hooks:
            changed = hook(self.module, args, kwargs)
            if changed is None:
                continue
            if not hook.with_kwargs:
                args = changed if isinstance(changed, tuple) else (changed,)
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        return args, kwargs


def _backward_hooks(module: Any) -> tuple[_Backward | None, list[Callable[..., Any]]]:
    """The full backward hooks of a call, if there are any, and those of the older form."""
    own, pre_hooks = list(module._backward_hooks.values()), [*of_all("backward_pre"), *module._backward_pre_hooks.values()]
    older = of_all("older_backward")
    if module._is_full_backward_hook is False:
        own, older = [], older + own
    full = of_all("backward") + own
    return (_Backward(module, full, pre_hooks) if full or pre_hooks else None), older


def _on_last_node(module: Any, hook: Callable[..., Any], output: Any) -> None:
    while not isinstance(output, Tensor):
        output = next((v for v in output.values() if isinstance(v, Tensor)), None) if isinstance(output, dict) else output[0]
    if output.grad_fn is not None:
        output.grad_fn.register_hook(lambda grad_input, grad_output: hook(module, grad_input, grad_output))


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

    def __init__(self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
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
