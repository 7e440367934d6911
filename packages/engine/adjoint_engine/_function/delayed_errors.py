"""Identities whose backward fails, or gives no gradient: for tests of what stands before them."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor

from .function import Function


class DelayedError:
    """Hands tensors on; a backward through them raises ``RuntimeError(message)``.

    Example::

        >>> y = ad._C._functions.DelayedError("not here", 1)(ad.ones(2, requires_grad=True))
        >>> y.sum().backward()
        Traceback (most recent call last):
        RuntimeError: not here
    """

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
        """The tensors, of which there must be ``num_inputs``."""
        if len(tensors) != self.num_inputs:
            raise RuntimeError(f"DelayedError: expected {self.num_inputs} tensors, got {len(tensors)}")
        found = _Error.apply(self.message, *tensors)
        return found[0] if len(tensors) == 1 else found


class UndefinedGrad:
    """Hands tensors on; their gradients are absent, whatever arrives here.

    Example::

        >>> x = ad.ones(2, requires_grad=True)
        >>> ad._C._functions.UndefinedGrad()(x).sum().backward()
        >>> x.grad is None
        True
    """

    def __call__(self, *tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
        """The tensors."""
        found = _NoGradient.apply(*tensors)
        return found[0] if len(tensors) == 1 else found


class _Error(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.message = message
        return tuple(t.clone() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> None:
        raise RuntimeError(ctx.message)


class _NoGradient(Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.count = len(tensors)
        return tuple(t.clone() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, ...]:
        return (None,) * ctx.count
