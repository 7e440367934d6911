"""`nn.init`: values that parameters start from, written in place without being recorded."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._warnings import warn
from adjoint_engine import no_grad

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal", "kaiming_normal_", "kaiming_uniform",
    "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform",
    "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_",
]  # fmt: skip


def uniform_within(module: Any, bound: float) -> None:
    """Draws all parameters of a module from ±bound."""
    for p in module.parameters(recurse=False):
        uniform_(p, -bound, bound)


def uniform_by_fan_in(module: Any) -> None:
    """Draws weight and bias of a module from ±1/sqrt(the number of products in one output)."""
    if not module.weight.numel():
        warn("Initializing zero-element tensors is a no-op")
    fan_in = math.prod(module.weight.shape[1:])
    uniform_within(module, 1 / math.sqrt(fan_in) if fan_in else 0.0)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a layer before this nonlinearity has to stretch, to keep the variance.

    Example::

        >>> ad.nn.init.calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        if isinstance(param, bool) or not isinstance(param, (int, float, type(None))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    known = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4, "sigmoid": 1.0, "linear": 1.0}
    name = "linear" if nonlinearity.startswith("conv") else nonlinearity
    if name not in known:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return known[name]


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in [a, b).

    Example::

        >>> ad.nn.init.uniform_(ad.empty(100)).min() >= 0
        tensor(True)
    """
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal.

    Example::

        >>> ad.nn.init.normal_(ad.empty(2, 3), std=0.0)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal, given that the value lies in [a, b].

    Example::

        >>> ad.nn.init.trunc_normal_(ad.empty(100), a=-1.0, b=1.0).abs().max() <= 1
        tensor(True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        text = "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        warnings.warn(text, stacklevel=2)
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2))) / 2 for bound in (a, b))
    nearest = (max(a, min(mean, b)) - mean) / std

    def draw() -> tuple[Tensor, Tensor]:
        """Values, and which of them to keep: normal ones in [a, b] or, where few are, uniform ones as often as the density says."""
        x = core.empty_like(tensor)
        if high - low > 0.3:
            x.normal_(mean, std, generator=generator)
            return x, (x >= a) & (x <= b)
        x.uniform_(a, b, generator=generator)
        log_density = ((x - mean) / std).square() * -0.5 + 0.5 * nearest**2
        return x, core.empty_like(tensor).uniform_(generator=generator).log() <= log_density

    values, kept = draw()
    while not tensor.is_meta and not bool(kept.all()):
        others, fit = draw()
        values, kept = core.where(kept, values, others), kept | fit
    return tensor.copy_(values)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """All the same.

    Example::

        >>> ad.nn.init.constant_(ad.empty(2), 3.0)
        tensor([3., 3.])
    """
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """All one.

    Example::

        >>> ad.nn.init.ones_(ad.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """All zero.

    Example::

        >>> ad.nn.init.zeros_(ad.empty(2))
        tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix.

    Example::

        >>> ad.nn.init.eye_(ad.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(core.eye(*tensor.shape, dtype=tensor.dtype))


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution that hands on as many channels as it can.

    Example::

        >>> ad.nn.init.dirac_(ad.empty(2, 2, 3))[1]
        tensor([[0., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    out = tensor.size(0) // groups
    tensor.zero_()
    middle = tuple(n // 2 for n in tensor.shape[2:])
    for g in range(groups):
        for d in range(min(out, tensor.size(1))):
            tensor[(g * out + d, d, *middle)] = 1
    return tensor


@no_grad()
def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    """`uniform_`, unrecorded."""
    return tensor.uniform_(a, b, generator=generator)


_no_grad_trunc_normal_ = trunc_normal_  # which is not recorded either


@no_grad()
def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    """`fill_`, unrecorded."""
    return tensor.fill_(val)


@no_grad()
def _no_grad_zero_(tensor: Tensor) -> Tensor:
    """`zero_`, unrecorded."""
    return tensor.zero_()


@no_grad()
def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    """`normal_`, unrecorded."""
    return tensor.normal_(mean, std, generator=generator)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _nothing(tensor: Tensor) -> bool:
    if not tensor.numel():
        warn("Initializing zero-element tensors is a no-op")
    return not tensor.numel()


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform with the variance gain² · 2 / (fan in + fan out).

    Example::

        >>> ad.nn.init.xavier_uniform_(ad.empty(3, 3)).abs().max() <= 1
        tensor(True)
    """
    bound = gain * math.sqrt(6 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with the variance gain² · 2 / (fan in + fan out).

    Example::

        >>> ad.nn.init.xavier_normal_(ad.empty(2, 3)).shape
        adjoint.Size([2, 3])
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform with the variance gain² / fan.

    Example::

        >>> ad.nn.init.kaiming_uniform_(ad.empty(2, 6)).abs().max() <= 1
        tensor(True)
    """
    if _nothing(tensor):
        return tensor
    bound = math.sqrt(3) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with the variance gain² / fan.

    Example::

        >>> ad.nn.init.kaiming_normal_(ad.empty(2, 3)).shape
        adjoint.Size([2, 3])
    """
    return tensor if _nothing(tensor) else normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A (half-)orthogonal matrix, the dimensions after the first one taken together.

    Example::

        >>> w = ad.nn.init.orthogonal_(ad.empty(2, 3))
        >>> ad.allclose(w @ w.T, ad.eye(2), atol=1e-6)
        True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    flat = core.empty(tensor.size(0), tensor.numel() // tensor.size(0), dtype=tensor.dtype).normal_(generator=generator)
    wide = flat.size(0) < flat.size(1)
    q, r = core.linalg.qr(flat.t() if wide else flat)
    q = q * r.diagonal().sign()
    return tensor.copy_((q.t() if wide else q).reshape(tensor.shape)).mul_(gain)


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal, with the share ``sparsity`` of each column set to zero.

    Example::

        >>> (ad.nn.init.sparse_(ad.empty(4, 2), sparsity=0.75) != 0).sum(0)
        tensor([1, 1])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    normal_(tensor, 0.0, std, generator)
    count = math.ceil(sparsity * tensor.size(0))
    for column in range(tensor.size(1)):
        tensor[core.randperm(tensor.size(0), generator=generator)[:count], column] = 0
    return tensor


def _deprecated(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function under its old name, without the underscore."""
    old = f.__name__.removesuffix("_")

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning, stacklevel=2)
        return f(*args, **kwargs)

    call.__name__, call.__doc__ = old, f"The old name of `{old}_`."
    return call


constant, dirac, eye, normal = (_deprecated(f) for f in (constant_, dirac_, eye_, normal_))
orthogonal, sparse, uniform = (_deprecated(f) for f in (orthogonal_, sparse_, uniform_))
kaiming_normal, kaiming_uniform = _deprecated(kaiming_normal_), _deprecated(kaiming_uniform_)
xavier_normal, xavier_uniform = _deprecated(xavier_normal_), _deprecated(xavier_uniform_)
