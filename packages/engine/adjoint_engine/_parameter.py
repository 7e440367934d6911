"""Parameter: a tensor that a model owns."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core, empty
from adjoint_core._tensor.pickles import CLASSES_ABOVE
from adjoint_core._tensor.subclasses import _disabled_torch_function_impl

from . import _engine


class Parameter(Tensor):
    """The memory of ``data`` as a leaf that requires grad. Operations on it give plain tensors; a deep copy has no ``.grad``.

    Example::

        >>> ad.nn.Parameter(ad.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        data = empty(0) if data is None else data
        return Tensor._make_subclass(cls, _engine.detach(data), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(_engine.detach(self).clone(), self.requires_grad)
        return memo[id(self)]


CLASSES_ABOVE["Parameter"] = Parameter
_core._is_silent(Parameter)
