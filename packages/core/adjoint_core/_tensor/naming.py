"""What methods of `Tensor` written in Python share."""

from __future__ import annotations

from .. import _core
from .._core import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TYPE_NAMES = {
    "Float": _core.float32,
    "Double": _core.float64,
    "Half": _core.float16,
    "BFloat16": _core.bfloat16,
    "Byte": _core.uint8,
    "Char": _core.int8,
    "Short": _core.int16,
    "Int": _core.int32,
    "Long": _core.int64,
    "Bool": _core.bool,
    "UInt16": _core.uint16,
    "UInt32": _core.uint32,
    "UInt64": _core.uint64,
    "ComplexFloat": _core.complex64,
    "ComplexDouble": _core.complex128,
}


_PYTHON_TYPES = {float: _core.float64, int: _core.int64, bool: _core.bool, complex: _core.complex128}


def as_dtype(given: Any) -> Any:
    """What a type of Python's numbers means as a dtype; anything else as it is."""
    return _PYTHON_TYPES.get(given, given)


def method(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function is a method of `Tensor`, under its name."""
    setattr(Tensor, f.__name__, f)
    return f


def needs_grad(x: Tensor) -> bool:
    return getattr(x, "requires_grad", False)
