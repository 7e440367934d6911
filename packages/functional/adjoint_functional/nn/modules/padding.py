"""Padding of the last dimensions, as modules."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor

from .. import functional as F
from .module import Module
from .utils import _ntuple


class _Padding(Module):
    """``padding`` of both sides of each dimension, the last one first; one number for all."""

    __constants__ = ("padding",)
    _mode: str
    _n: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._n)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """With more elements around."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class _CircularPadNd(_Padding):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """With more elements around."""
        if not self._n < input.dim() <= self._n + 2:
            raise ValueError(f"expected {self._n + 1}D or {self._n + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


class _ReflectionPadNd(_Padding):
    _mode = "reflect"


class _ReplicationPadNd(_Padding):
    _mode = "replicate"


class _ConstantPadNd(_Padding):
    __constants__ = ("padding", "value")

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """With the value around."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The padding and the value."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


def _pad(name: str, n: int, *kinds: type) -> Any:
    value = ", 2.0" if name.startswith("Const") else ""
    example = f">>> ad.nn.{name}(1{value})(ad.ones(1{', 3' * n})).shape\n    adjoint.Size([1{', 5' * n}])"
    doc = f"`nn.functional.pad` over the last {n} dimensions as a module.\n\nExample::\n\n    {example}"
    return type(name, kinds, {"__doc__": doc, "__module__": __name__, "_n": n})


CircularPad1d, CircularPad2d, CircularPad3d = (_pad(f"CircularPad{n}d", n, _CircularPadNd) for n in (1, 2, 3))
ConstantPad1d, ConstantPad2d, ConstantPad3d = (_pad(f"ConstantPad{n}d", n, _ConstantPadNd) for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_pad(f"ReflectionPad{n}d", n, _ReflectionPadNd) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_pad(f"ReplicationPad{n}d", n, _ReplicationPadNd) for n in (1, 2, 3))
ZeroPad1d = _pad("ZeroPad1d", 1, _ZeroPadNd, ConstantPad1d)
ZeroPad2d = _pad("ZeroPad2d", 2, _ZeroPadNd, ConstantPad2d)
ZeroPad3d = _pad("ZeroPad3d", 3, _ZeroPadNd, ConstantPad3d)

__all__ = [
    name for name, value in globals().items() if name[0] != "_" and isinstance(value, type) and value.__module__ == __name__
]
