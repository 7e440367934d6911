"""Limits of the element types."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import dtype as DType

# bits of the significand (with the hidden one) and the exponent's range: 2**low is the smallest normal number
_FLOATS = {"float16": (11, -14, 16), "bfloat16": (8, -126, 128), "float32": (24, -126, 128), "float64": (53, -1022, 1024)}


class _Limits:
    """Prints its fields."""

    _shown: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash(self.dtype)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name):g}" for name in self._shown)
        return f"{self.__class__.__name__}({fields}, dtype={self.dtype})"  # type: ignore[attr-defined]


def _named(given: Any) -> DType:
    """The type that Python's `float`, `int` or `complex` means, or the given one."""
    named = {float: _core.float64, int: _core.int64, complex: _core.complex128}.get(given, given)
    if not hasattr(named, "itemsize"):
        raise TypeError(f"argument 'type' must be a dtype, not {type(given).__name__}")
    return named


class finfo(_Limits):  # noqa: N801
    """Limits of a floating-point type: `finfo(float32).eps`. Complex types stand for their real part.

    Example::

        >>> ad.finfo(ad.float32).eps
        1.1920928955078125e-07
    """

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type: Any = None) -> None:
        t = _named(type or _core.get_default_dtype()).to_real()
        limits = _FLOATS.get(t.name, getattr(t, "limits", None))
        if limits is None:
            raise TypeError(f"finfo: {t!r} is not a floating-point type; use iinfo for integers")
        precision, low, high = limits
        largest = getattr(t, "largest", (2.0 - 2.0 ** (1 - precision)) * 2.0 ** (high - 1))
        self.bits = t.itemsize * 8
        self.resolution = float(f"1e-{int((precision - 1) * 0.30102999566)}")
        self.min, self.max = -largest, largest
        self.eps = 2.0 ** (1 - precision)
        self.tiny = self.smallest_normal = 2.0**low
        self.dtype = t.name


class iinfo(_Limits):  # noqa: N801
    """Limits of an integer type: `iinfo(int8).max`.

    Example::

        >>> ad.iinfo(ad.int8).max
        127
    """

    _shown = ("min", "max")

    def __init__(self, type: Any) -> None:
        type = _named(type)
        if type.is_floating_point or type.is_complex or type is _core.bool:
            raise TypeError(f"iinfo: {type!r} is not an integer type")
        self.bits = bits = type.itemsize * 8
        self.min, self.max = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type.is_signed else (0, 2**bits - 1)
        self.dtype = type.name
