"""Variable, the tensor with gradients of before: now a tensor is one."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor

from . import _engine


class VariableMeta(type):
    """Makes every tensor an instance of ``Variable``."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """``Variable(tensor, requires_grad)``: the memory of ``tensor`` as a leaf. Use tensors themselves.

    Raises:
        TypeError: ``data`` is no tensor.

    Example::

        >>> ad.autograd.Variable(ad.ones(2), requires_grad=True)
        tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: data has to be a tensor, but got {type(data).__name__}")
        x = _engine.detach(data)
        if requires_grad:
            _engine.set_requires_grad(x, True)
        return x
