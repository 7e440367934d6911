"""Forms of custom Functions that old code still names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint_core import Tensor

from .function import Function


class InplaceFunction(Function):
    """A Function with an ``inplace`` flag; kept for old code."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _leaves(x: Any) -> Iterator[Any]:
    if x is None or isinstance(x, Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from _leaves(part)
    elif isinstance(x, dict):
        for part in x.values():
            yield from _leaves(part)
    else:
        raise ValueError(f"Auto nesting doesn't know how to process an input object of type {type(x).__name__}")


def _tensors(x: Any) -> tuple[Tensor, ...]:
    return tuple(t for t in _leaves(x) if t is not None)


def _nested(flat: Iterator[Any], like: Any) -> Any:
    if isinstance(like, (list, tuple)):
        return type(like)(None if part is None else _nested(flat, part) for part in like)
    return next(flat)


class NestedIOFunction(Function):
    """A Function of nested lists and tuples with methods instead of static methods; kept for old code, not to be called."""

    def forward(self, *args: Any) -> Any:  # type: ignore[override]
        """Calls ``forward_extended`` with the nested inputs."""
        self._nested_output = self.forward_extended(*args)
        return _tensors(self._nested_output)

    def backward(self, *gradients: Any) -> Any:  # type: ignore[override]
        """Calls ``backward_extended`` with gradients nested as the outputs."""
        return tuple(_leaves(self.backward_extended(*_nested(iter(gradients), self._nested_output))))

    def save_for_backward(self, *args: Any) -> None:
        """Saves nested tensors."""
        self.to_save = _tensors(args)
        self._to_save_nested = args

    @property
    def saved_tensors(self) -> Any:
        """What was saved, nested as it was."""
        return _nested(iter(self.to_save), self._to_save_nested)

    def mark_dirty(self, *args: Any, **kwargs: Any) -> None:
        """Says which inputs were written to."""
        self.dirty_tensors = _tensors((args, kwargs))

    def mark_non_differentiable(self, *args: Any, **kwargs: Any) -> None:
        """Says which outputs have no gradient."""
        self.non_differentiable = _tensors((args, kwargs))

    def forward_extended(self, *input: Any) -> Any:
        """The value of the operation."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> Any:
        """The gradients of the inputs."""
        raise NotImplementedError
