"""Activations of `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import node, rounded_once
from adjoint_core._warnings import warn


def write(x: Tensor, y: Tensor, inplace: bool) -> Tensor:
    return x.copy_(y) if inplace and y is not x else y


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x).

    Example::

        >>> ad.nn.functional.relu(ad.tensor([-1., 0., 2.]))
        tensor([0., 0., 2.])
    """
    return input.relu_() if inplace else _core.relu(input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)).

    Example::

        >>> ad.nn.functional.sigmoid(ad.tensor([-1., 0., 2.]))
        tensor([0.2689, 0.5000, 0.8808])
    """
    return _core.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent.

    Example::

        >>> ad.nn.functional.tanh(ad.tensor([-1., 0., 2.]))
        tensor([-0.7616,  0.0000,  0.9640])
    """
    return _core.tanh(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; `approximate="tanh"` for the tanh form.

    Example::

        >>> ad.nn.functional.gelu(ad.tensor([-1., 0., 2.]))
        tensor([-0.1587,  0.0000,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _core._gelu(input, approximate == "tanh")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x).

    Example::

        >>> ad.nn.functional.silu(ad.tensor([-1., 0., 2.]))
        tensor([-0.2689,  0.0000,  1.7616])
    """
    return _core._silu(input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)).

    Example::

        >>> ad.nn.functional.mish(ad.tensor([-1., 0., 2.]))
        tensor([-0.3034,  0.0000,  1.9440])
    """
    return _core._mish(input, inplace)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

    Example::

        >>> ad.nn.functional.softplus(ad.tensor([-1., 0., 2.]))
        tensor([0.3133, 0.6931, 2.1269])
    """
    return _core._softplus(input, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|).

    Example::

        >>> ad.nn.functional.softsign(ad.tensor([-1., 0., 2.]))
        tensor([-0.5000,  0.0000,  0.6667])
    """
    return _core._softsign(input)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)).

    Example::

        >>> ad.nn.functional.logsigmoid(ad.tensor([-1., 0., 2.]))
        tensor([-1.3133, -0.6931, -0.1269])
    """
    return _core._logsigmoid(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x if x > 0, else alpha * (exp(x) - 1).

    Example::

        >>> ad.nn.functional.elu(ad.tensor([-1., 0., 2.]))
        tensor([-0.6321,  0.0000,  2.0000])
    """
    return _core._elu(input, alpha, inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x if x > 0, else alpha * (exp(x / alpha) - 1).

    Example::

        >>> ad.nn.functional.celu(ad.tensor([-1., 0., 2.]))
        tensor([-0.6321,  0.0000,  2.0000])
    """
    return _core._celu(input, alpha, inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising elu.

    Example::

        >>> ad.nn.functional.selu(ad.tensor([-1., 0., 2.]))
        tensor([-1.1113,  0.0000,  2.1014])
    """
    return _core._selu(input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x if x > 0, else negative_slope * x.

    Example::

        >>> ad.nn.functional.leaky_relu(ad.tensor([-1., 0., 2.]))
        tensor([-0.0100,  0.0000,  2.0000])
    """
    return _core._leaky_relu(input, negative_slope, inplace)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x if x > 0, else weight * x, with one weight for all or for each channel (dimension 1).

    Example::

        >>> ad.nn.functional.prelu(ad.tensor([-1., 0., 2.]), ad.tensor([0.5]))
        tensor([-0.5000,  0.0000,  2.0000])
    """
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.numel() == 1:
        weight = weight.reshape(())
    elif weight.numel() != (channels := input.size(1) if input.ndim > 1 else 1):
        raise RuntimeError(
            f"prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel size = {channels}."
        )
    elif input.ndim > 2:
        weight = weight.view([-1] + [1] * (input.ndim - 2))
    return _core._prelu(input, weight)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x clamped to [min_val, max_val].

    Example::

        >>> ad.nn.functional.hardtanh(ad.tensor([-1., 0., 2.]))
        tensor([-1.,  0.,  1.])
    """
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return _core._hardtanh(input, min_val, max_val, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x clamped to [0, 6].

    Example::

        >>> ad.nn.functional.relu6(ad.tensor([-1., 0., 2.]))
        tensor([0., 0., 2.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6.

    Example::

        >>> ad.nn.functional.hardsigmoid(ad.tensor([-1., 0., 2.]))
        tensor([0.3333, 0.5000, 0.8333])
    """
    return _core._hardsigmoid(input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x).

    Example::

        >>> ad.nn.functional.hardswish(ad.tensor([-1., 0., 2.]))
        tensor([-0.3333,  0.0000,  1.6667])
    """
    return _core._hardswish(input, inplace)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x where |x| > lambd, 0 elsewhere.

    Example::

        >>> ad.hardshrink(ad.tensor([-2.0, 0.3, 1.0]))
        tensor([-2.,  0.,  1.])
    """
    return _core._hardshrink(input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by lambd; zero within.

    Example::

        >>> ad.nn.functional.softshrink(ad.tensor([-1., 0., 2.]))
        tensor([-0.5000,  0.0000,  1.5000])
    """
    if lambd < 0:
        raise RuntimeError(f"softshrink: lambda must be in range [0, inf) for input dtype {input.dtype}, but found {lambd}")
    return _core._softshrink(input, lambd)


@rounded_once
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x).

    Example::

        >>> ad.nn.functional.tanhshrink(ad.tensor([-1., 0., 2.]))
        tensor([-0.2384,  0.0000,  1.0360])
    """
    return input - _core.tanh(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value.

    Example::

        >>> ad.nn.functional.threshold(ad.tensor([-1., 0., 2.]), 0.5, 9.)
        tensor([9., 9., 2.])
    """
    return _core._threshold(input, threshold, value, inplace)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second.

    Example::

        >>> ad.nn.functional.glu(ad.tensor([1., 2., 0., 0.]))
        tensor([0.5000, 1.0000])
    """
    return _core._glu(input, dim)


def _softmax_dim(name: str, dim: int | None, ndim: int) -> int:
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) divided by its sum along `dim`.

    Example::

        >>> ad.nn.functional.softmax(ad.tensor([-1., 0., 2.]), 0)
        tensor([0.0420, 0.1142, 0.8438])
    """
    return input.softmax(_softmax_dim("softmax", dim, input.ndim), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x).

    Example::

        >>> ad.nn.functional.softmin(ad.tensor([-1., 0., 2.]), 0)
        tensor([0.7054, 0.2595, 0.0351])
    """
    return _core.softmax(-input, _softmax_dim("softmin", dim, input.ndim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x)).

    Example::

        >>> ad.nn.functional.log_softmax(ad.tensor([-1., 0., 2.]), 0)
        tensor([-3.1698, -2.1698, -0.1698])
    """
    return input.log_softmax(_softmax_dim("log_softmax", dim, input.ndim), dtype)


@node("RreluWithNoiseBackward0")
def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """x where x > 0, a random slope times x elsewhere; the mean slope if not `training`.

    Example::

        >>> ad.nn.functional.rrelu(ad.tensor([-2.4, 1.0]), 0.25, 0.75)
        tensor([-1.2000,  1.0000])
    """
    if lower > upper:
        raise RuntimeError(f"rrelu: Lower bound should be less than or equal to the upper bound, got {lower} and {upper}")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slope = _core.rand_like(input) * (upper - lower) + lower
    if inplace:  # `prelu` keeps the input, which is about to change
        return write(input, _core.where(input > 0, input, input * slope), inplace)
    return _core._prelu(input, slope)


@rounded_once
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the relaxed categorical distribution; `hard` gives one-hot values with the gradient of the soft ones.

    Example::

        >>> y = ad.nn.functional.gumbel_softmax(ad.zeros(2, 3), hard=True)
        >>> y.sum(1)
        tensor([1., 1.])
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    if not logits.is_floating_point():
        raise RuntimeError(f"gumbel_softmax: expected logits of a floating-point dtype, but got {logits.dtype}")
    noise = -_core.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    one = _core.zeros_like(logits).scatter_(dim, soft.detach().argmax(dim, keepdim=True), 1.0)
    return one - soft.detach() + soft


def _in_place(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def write_here(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return f(input, *args, **kwargs, inplace=True)

    write_here.__name__ = f.__name__ + "_"
    write_here.__doc__ = f"`{f.__name__}` in place."
    return write_here


celu_, elu_, hardtanh_, leaky_relu_ = (_in_place(f) for f in (celu, elu, hardtanh, leaky_relu))


relu_, rrelu_, selu_, threshold_ = (_in_place(f) for f in (relu, rrelu, selu, threshold))
