"""Parameter: a tensor that a model owns."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core, empty
from adjoint_core._tensor.pickles import CLASSES_ABOVE
from adjoint_core._tensor.subclasses import _disabled_torch_function_impl

from . import _engine


class _OrMarked(type):
    """Instances of other classes of tensors are parameters too, if they were made ones."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False):
            return True
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_OrMarked):
    """The memory of ``data`` as a leaf that requires grad. Operations on it give plain tensors; a deep copy has no ``.grad``.

    Data of a class of tensors that answers calls keeps its class: what is made of it passes ``isinstance(x, Parameter)``.

    Example::

        >>> ad.nn.Parameter(ad.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        data = empty(0) if data is None else data
        if type(data) is not Tensor and not isinstance(data, cls):
            leaf = data.detach()
            if type(leaf) is type(data):
                leaf.requires_grad_(requires_grad)._is_param = True
                return leaf
        return Tensor._make_subclass(cls, _engine.detach(data), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(_engine.detach(self).clone(), self.requires_grad)
        return memo[id(self)]


CLASSES_ABOVE["Parameter"] = Parameter
_core._is_silent(Parameter)
