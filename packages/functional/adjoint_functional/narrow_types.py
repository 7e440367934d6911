"""Element types of 8 and 4 bits, pairs of float16, and quantized ones, by name, for programs that ask whether they met one: no tensor has them here."""

from __future__ import annotations

from typing import Any

from adjoint_core import _core

__all__ = [
    "chalf",
    "complex32",
    "float4_e2m1fn_x2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "qint8",
    "qint32",
    "quint2x4",
    "quint4x2",
    "quint8",
]


class NarrowType:
    """A type that tensors cannot have: it has a name, a size and, for `finfo`, limits."""

    itemsize = 1
    is_floating_point, is_complex, is_signed = True, False, True

    def __init__(self, name: str, limits: tuple[int, int, int] | None = None, largest: float = 0.0) -> None:
        self.name, self.limits, self.largest = name, limits, largest

    def __repr__(self) -> str:
        return f"{_core._library()}.{self.name}"

    def to_real(self) -> Any:
        """Itself; of complex32, float16."""
        return _core.float16 if self.is_complex else self

    def to_complex(self) -> NarrowType:
        """complex32 itself. Others raise RuntimeError: there is no such type."""
        if self.is_complex:
            return self
        raise RuntimeError(f"to_complex: {self!r} has no complex type")


# Bits of the significand, the smallest and the largest exponent, and the largest number, as the ONNX and OCP standards give them.
float8_e4m3fn = NarrowType("float8_e4m3fn", (4, -6, 9), 448.0)
float8_e4m3fnuz = NarrowType("float8_e4m3fnuz", (4, -7, 8), 240.0)
float8_e5m2 = NarrowType("float8_e5m2", (3, -14, 16), 57344.0)
float8_e5m2fnuz = NarrowType("float8_e5m2fnuz", (3, -15, 16), 57344.0)
float8_e8m0fnu = NarrowType("float8_e8m0fnu", (1, -127, 128), 2.0**127)
float4_e2m1fn_x2 = NarrowType("float4_e2m1fn_x2")


class _PairOfHalves(NarrowType):
    itemsize = 4
    is_floating_point, is_complex = False, True


complex32 = chalf = _PairOfHalves("complex32")


class _Quantized(NarrowType):
    """A type of quantized tensors, which tables of types list."""

    is_floating_point = False

    def __init__(self, name: str, itemsize: int = 1, is_signed: bool = False) -> None:
        super().__init__(name)
        self.itemsize, self.is_signed = itemsize, is_signed


qint8, qint32 = _Quantized("qint8", is_signed=True), _Quantized("qint32", 4, True)
quint8, quint4x2, quint2x4 = (_Quantized(name) for name in ("quint8", "quint4x2", "quint2x4"))
