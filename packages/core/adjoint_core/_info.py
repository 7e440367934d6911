"""Limits of the element types."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core
from ._core import dtype as DType

# bits of the significand (with the hidden one) and the exponent's range: 2**low is the smallest normal number
_FLOATS = {"float16": (11, -14, 16), "bfloat16": (8, -126, 128), "float32": (24, -126, 128), "float64": (53, -1022, 1024)}


@dataclass(frozen=True, init=False)
class finfo:  # noqa: N801
    """Limits of a floating-point type: `finfo(float32).eps`. Complex types stand for their real part."""

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str

    def __init__(self, type: DType | None = None) -> None:
        t = (type or _core.get_default_dtype()).to_real()
        if t.name not in _FLOATS:
            raise TypeError(f"finfo: {t!r} is not a floating-point type; use iinfo for integers")
        precision, low, high = _FLOATS[t.name]
        largest = (2.0 - 2.0 ** (1 - precision)) * 2.0 ** (high - 1)
        digits = int((precision - 1) * 0.30102999566)
        values = (t.itemsize * 8, 2.0 ** (1 - precision), largest, -largest, 2.0**low, 2.0**low, float(f"1e-{digits}"), t.name)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, init=False)
class iinfo:  # noqa: N801
    """Limits of an integer type: `iinfo(int8).max`."""

    bits: int
    max: int
    min: int
    dtype: str

    def __init__(self, type: DType) -> None:
        if type.is_floating_point or type.is_complex or type is _core.bool:
            raise TypeError(f"iinfo: {type!r} is not an integer type")
        bits = type.itemsize * 8
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type.is_signed else (0, 2**bits - 1)
        for name, value in zip(self.__dataclass_fields__, (bits, high, low, type.name), strict=True):
            object.__setattr__(self, name, value)
