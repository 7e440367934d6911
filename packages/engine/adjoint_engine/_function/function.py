"""Custom Functions: forward and backward written by the user."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from adjoint_core import Tensor

from .. import _engine
from .._modes.switches import no_grad
from .apply import apply_plain, bound
from .context import BackwardCFunction, FunctionCtx
from .generated_rule import GeneratedRule
from .lifted import apply_lifted
from .protocol import Protocol, has_setup, rule_of


class FunctionMeta(type):
    """Gives each Function the class of its graph node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": cls.__module__})
        super().__init__(name, bases, attrs)

    # Looked up at each call: methods may be replaced after the class was made.
    _has_setup = property(has_setup)
    _rule = property(rule_of)


class Function(FunctionCtx, Protocol, metaclass=FunctionMeta):
    """A differentiable operation of your own.

    Write ``forward(ctx, *args)``, or ``forward(*args)`` with ``setup_context(ctx, inputs, output)``; then ``backward(ctx,
    *grad_outputs)`` returning one gradient (or None) per argument; for forward mode ``jvp(ctx, *tangents)``; for vmap
    ``vmap(info, in_dims, *args)`` or ``generate_vmap_rule = True``. Call it by ``apply``.

    Example::

        >>> class Square(ad.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         x, = ctx.saved_tensors
        ...         return 2 * x * grad
        >>> x = ad.tensor(3., requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor(6.)
    """

    _backward_cls: type[BackwardCFunction]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self).__name__} should not be instantiated: the methods of a Function are static, call {type(self).__name__}.apply.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises: functions are used by ``apply``."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
            "static forward method and call it by apply."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs ``forward`` and records the operation. Arguments by name count at their positions in ``forward``.

        Raises:
            RuntimeError: forward, backward or their outputs break the rules of the protocol.
        """
        if kwargs or (cls._has_setup and getattr(cls.forward, "__defaults__", None)):
            args, kwargs = bound(cls, args, kwargs)
        call = apply_lifted if _engine.any_lifted(args) else apply_plain
        return call(cls, args, kwargs)[0]

    @classmethod
    def _generated_rule(cls, dims: tuple[int | None, ...], info: Any) -> GeneratedRule:
        return GeneratedRule(cls, Function, dims, info)


def once_differentiable(fn: Any) -> Any:
    """For a ``backward`` that cannot be differentiated: a second derivative through it raises instead of being wrong.

    Example::

        >>> class Double(ad.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...
        ...     @staticmethod
        ...     @ad.autograd.function.once_differentiable
        ...     def backward(ctx, grad):
        ...         return grad * 2
        >>> x = ad.tensor(1., requires_grad=True)
        >>> ad.autograd.grad(Double.apply(x), x)
        (tensor(2.),)
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not _engine.grad_enabled() or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        single = not isinstance(outputs, tuple)
        blocked = _NotTwice.apply(len(args), *args, *((outputs,) if single else outputs))
        return blocked[0] if single else blocked

    return wrapper


class _NotTwice(Function):
    """Hands on its last arguments, connected to the first ones by a backward that raises."""

    @staticmethod
    def forward(ctx: Any, n: int, *args: Any) -> Any:
        return tuple(a.detach() if isinstance(a, Tensor) else a for a in args[n:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
