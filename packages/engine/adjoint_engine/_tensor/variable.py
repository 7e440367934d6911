"""Variable, the tensor with gradients of before: now a tensor is one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor

from .. import _engine
from .._backward import GradientEdge, accumulate, grad, queue_callback
from .attributes import VOLATILE


class _ExecutionEngine:
    """The engine under the name that older code reaches it by: ``Variable._execution_engine``."""

    queue_callback = staticmethod(queue_callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether a reentrant checkpoint may run now: not while only some gradients are asked for."""
        return not _engine.inputs_given()

    @staticmethod
    def run_backward(
        tensors: Sequence[Tensor | GradientEdge],
        grad_tensors: Sequence[Tensor | None],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[Tensor | GradientEdge] = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Tensor | None, ...] | None:
        """``backward`` if ``accumulate_grad``, else ``grad``, with all arguments given."""
        if not accumulate_grad:
            return grad(tensors, inputs, grad_tensors, keep_graph, create_graph, allow_unused=allow_unreachable)
        accumulate(list(tensors), list(grad_tensors), keep_graph, create_graph, list(inputs))
        return None


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

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        if volatile is not None:
            warnings.warn(VOLATILE, stacklevel=2)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: data has to be a tensor, but got {type(data).__name__}")
        x = _engine.detach(data)
        if requires_grad:
            _engine.set_requires_grad(x, True)
        return x
