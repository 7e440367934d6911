"""Types of tensors as classes, `FloatTensor` and its kin, and numbers under the names of the namespace."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._compose import check_all, method
from .._core import Tensor
from .naming import TYPE_NAMES

__all__ = ["e", "inf", "nan", "newaxis", "pi", "typename"]

inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None


class _TypeOf(type):
    """Makes `FloatTensor` a type of tensors and a constructor of them."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any) -> Tensor:
        return _new(cls.dtype, *args)


def _new(dtype: Any, *args: Any) -> Tensor:
    """Uninitialised if given sizes, else a copy of the data."""
    if not args:
        return _core.empty(0, dtype=dtype)
    if isinstance(args[0], _core.Size):
        return _core.empty(args[0], dtype=dtype)
    if all(isinstance(a, int) for a in args):
        return _core.empty(*args, dtype=dtype)
    return args[0].to(dtype) if isinstance(args[0], Tensor) else _core.tensor(args[0], dtype=dtype)


for _name, _dtype in TYPE_NAMES.items():
    if not _name.startswith("Complex"):
        globals()[_name + "Tensor"] = _TypeOf(
            _name + "Tensor", (), {"dtype": _dtype, "__module__": "adjoint", "__doc__": f"Tensors of {_dtype!r}."}
        )
        __all__.append(_name + "Tensor")


@method
def new(self: Tensor, *args: Any) -> Tensor:
    """A tensor of this type: uninitialised if given sizes, else with a copy of the data."""
    return _new(self.dtype, *args)


@method
def new_empty_strided(
    self: Tensor,
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uninitialised memory of this type with the given strides."""
    device = self.device if device is None else device
    kind = dtype or self.dtype
    return _core.empty_strided(size, stride, dtype=kind, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


def typename(obj: Any) -> str:
    """`adjoint.FloatTensor` for a tensor, the name of its type for anything else."""
    return obj.type() if isinstance(obj, Tensor) else _full_name(type(obj))


def _full_name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


check_all(globals())
