"""Tensors as NumPy arrays, and back."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .naming import method, needs_grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@method
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """A NumPy array that shares this tensor's memory."""
    if needs_grad(self):
        if not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return _core._array_of(self._alias())
    return _core._array_of(self)


@method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("a copy is needed to change the type")
        return array.astype(dtype)
    return array.copy() if copy else array


@method
def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    return _core.from_numpy(array) if getattr(array, "ndim", 0) else _core.tensor(array)


Tensor.__array_priority__ = 1000
