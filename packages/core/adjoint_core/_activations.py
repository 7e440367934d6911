"""Activations of `nn.functional`."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import Tensor


def write(x: Tensor, y: Tensor, inplace: bool) -> Tensor:
    return x.copy_(y) if inplace and y is not x else y


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x)."""
    return input.relu_() if inplace else input.relu()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return _core.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return _core.tanh(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; `approximate="tanh"` for the tanh form."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _core._gelu(input, approximate == "tanh")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _core._silu(input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _core._mish(input, inplace)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return _core._softplus(input, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return _core._softsign(input)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    return _core._logsigmoid(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x if x > 0, else alpha * (exp(x) - 1)."""
    return _core._elu(input, alpha, inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x if x > 0, else alpha * (exp(x / alpha) - 1)."""
    return _core._celu(input, alpha, inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising elu."""
    return _core._selu(input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x if x > 0, else negative_slope * x."""
    return _core._leaky_relu(input, negative_slope, inplace)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x if x > 0, else weight * x, with one weight for all or for each channel (dimension 1)."""
    if weight.numel() > 1 and input.ndim > 2:
        weight = weight.view([-1] + [1] * (input.ndim - 2))
    return _core.where(input > 0, input, weight * input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x clamped to [min_val, max_val]."""
    return _core._hardtanh(input, min_val, max_val, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x clamped to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return _core._hardsigmoid(input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return _core._hardswish(input, inplace)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by lambd; zero within."""
    return _core.where(input > lambd, input - lambd, _core.where(input < -lambd, input + lambd, 0.0 * input))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - _core.tanh(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value."""
    return _core._threshold(input, threshold, value, inplace)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second."""
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


def _softmax_dim(dim: int | None, ndim: int) -> int:
    return dim if dim is not None else 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) divided by its sum along `dim`."""
    return _core.softmax(input, _softmax_dim(dim, input.ndim), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x)."""
    return _core.softmax(-input, _softmax_dim(dim, input.ndim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x))."""
    return _core.log_softmax(input, _softmax_dim(dim, input.ndim), dtype)
