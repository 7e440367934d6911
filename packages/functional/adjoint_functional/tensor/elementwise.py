"""Elementwise functions that are made of others."""

from __future__ import annotations

import math
from typing import Any

from adjoint_core import Tensor, _core, _results
from adjoint_core._compose import check_all, inplace_method, method, node, rounded_once, without_effect

__all__ = [
    "fill", "float_power", "frexp", "gcd", "heaviside", "isin", "isneginf", "isposinf", "isreal", "lcm", "ldexp",
    "logaddexp2", "msort", "mvlgamma", "nextafter", "renorm", "signbit",
]  # fmt: skip


@method
def signbit(input: Tensor) -> Tensor:
    """Whether the sign is negative; true of -0.0 too.

    Example::

        >>> ad.signbit(ad.tensor([-0.0, 1.0]))
        tensor([ True, False])
    """
    return _core.copysign(_core.ones_like(input), input) < 0 if input.is_floating_point() else input < 0


@inplace_method
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where input < 0, 1 where input > 0, `values` where input = 0.

    Example::

        >>> ad.heaviside(ad.tensor([-1.0, 0.0, 2.0]), ad.tensor(0.5))
        tensor([0.0000, 0.5000, 1.0000])
    """
    if input.dtype is not values.dtype:
        raise RuntimeError(f"heaviside: input and values must have one type, got {input.dtype} and {values.dtype}")
    return _core.where(input == 0, values, (input > 0).to(input.dtype))


@inplace_method
@node("LdexpBackward0")
@rounded_once
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """input * 2**other.

    Example::

        >>> ad.ldexp(ad.tensor([1.0, 3.0]), ad.tensor([3, -1]))
        tensor([8.0000, 1.5000])
    """
    power = _core.pow(2.0, other)
    return input * (power.to(input.dtype) if input.is_floating_point() or input.is_complex() else power)


@inplace_method
def float_power(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """input ** exponent, computed in double precision.

    Example::

        >>> ad.float_power(ad.tensor([2]), 0.5)
        tensor([1.4142], dtype=adjoint.float64)
    """
    is_complex = any(isinstance(v, complex) or (isinstance(v, Tensor) and v.is_complex()) for v in (input, exponent))
    dtype = _core.complex128 if is_complex else _core.float64
    base, power = (v.to(dtype) if isinstance(v, Tensor) else v for v in (input, exponent))
    return _core.pow(base, power)


@method
@node("Logaddexp2Backward0")
@rounded_once
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """log2(2**input + 2**other) without overflow.

    Example::

        >>> ad.logaddexp2(ad.tensor([2.0]), ad.tensor([2.0]))
        tensor([3.])
    """
    return _core.logaddexp(input * math.log(2), other * math.log(2)) / math.log(2)


@inplace_method
@node("MvlgammaBackward0")
@rounded_once
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Example::

        >>> ad.mvlgamma(ad.tensor([2.0, 3.0]), 2)
        tensor([0.4516, 1.5502])
    """
    shifts = _core.arange(p, dtype=input.dtype if input.is_floating_point() else None, device=input.device) / 2
    return _core.lgamma(input.unsqueeze(-1) - shifts).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


@inplace_method
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor of integers, not negative.

    Example::

        >>> ad.gcd(ad.tensor([12, 0]), ad.tensor([-18, 5]))
        tensor([6, 5])
    """
    if any(x.is_floating_point() or x.is_complex() for x in (input, other)):
        raise RuntimeError(f"gcd: expected integers, got {input.dtype} and {other.dtype}")
    a, b = _core.broadcast_tensors(input.abs(), other.abs())
    while _core._all_lanes(b).any():
        left = b != 0
        a, b = _core.where(left, b, a), _core.where(left, a % b.clamp_min(1), 0)
    return a


@inplace_method
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiple of integers, not negative; 0 where one of them is.

    Example::

        >>> ad.lcm(ad.tensor([4, 0]), ad.tensor([6, 3]))
        tensor([12,  0])
    """
    return (input // gcd(input, other).clamp_min(1) * other).abs()


@method
def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part is zero.

    Example::

        >>> ad.isreal(ad.tensor([1.0 + 0.0j, 2.0j]))
        tensor([ True, False])
    """
    return input.imag == 0 if input.is_complex() else _core.ones_like(input, dtype=_core.bool)


@method
def isposinf(input: Tensor) -> Tensor:
    """Whether an element is infinity.

    Example::

        >>> ad.isposinf(ad.tensor([float('inf'), 1.0]))
        tensor([ True, False])
    """
    return input == math.inf


@method
def isneginf(input: Tensor) -> Tensor:
    """Whether an element is minus infinity.

    Example::

        >>> ad.isneginf(ad.tensor([-float('inf'), 1.0]))
        tensor([ True, False])
    """
    return input == -math.inf


def isin(
    elements: Tensor | float, test_elements: Tensor | float, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each of `elements` is among `test_elements`.

    Example::

        >>> ad.isin(ad.tensor([1, 2, 3]), ad.tensor([3, 1]))
        tensor([ True, False,  True])
    """
    device = next((v.device for v in (elements, test_elements) if isinstance(v, Tensor)), None)
    elements, tested = (v if isinstance(v, Tensor) else _core.tensor(v, device=device) for v in (elements, test_elements))
    tested = tested.reshape(-1)
    if tested.numel() <= 16 or elements.is_complex() or tested.is_complex():
        found = (elements.unsqueeze(-1) == tested).any(-1)
    else:  # so many that looking for each in their order takes less
        kind = _core.result_type(elements, tested)
        elements, tested = elements.detach().to(kind), tested.detach().to(kind).sort().values
        place = _core.searchsorted(tested, elements.reshape(-1)).clamp(max=tested.numel() - 1)
        found = (tested[place] == elements.reshape(-1)).reshape(elements.shape)
    return ~found if invert else found


@node("FillBackward0")
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the shape of `input` with `value` everywhere; gradients go to `value`.

    Example::

        >>> ad.fill(ad.zeros(2), 3)
        tensor([3., 3.])
    """
    return without_effect(_core.empty_like(input.detach()).fill_(value), input)


@method
@node("FrexpBackward0")
def frexp(input: Tensor) -> Any:
    """A mantissa of size in [0.5, 1) and an int32 exponent of each element: input = mantissa * 2 ** exponent; 0, inf and NaN have exponent 0.

    Example::

        >>> ad.frexp(ad.tensor([6.0]))
        adjoint.return_types.frexp(
        mantissa=tensor([0.7500]),
        exponent=tensor([3], dtype=adjoint.int32))
    """
    if not input.is_floating_point():
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, got {input.dtype}")
    x, bits, digits = input.detach(), _BITS[input.element_size()], _DIGITS[input.dtype]
    bias = (1 << (8 * input.element_size() - digits - 2)) - 1
    tiny = x.abs() < 2.0 ** (1 - bias)
    raised = _core.where(tiny, x * 2.0 ** (digits + 1), x).contiguous()
    exponent = (raised.view(bits) >> digits & 2 * bias + 1) - (bias - 1) - tiny.to(bits) * (digits + 1)
    plain = x.isfinite() & (x != 0)
    exponent = _core.where(plain, exponent, 0)
    half = -exponent >> 1
    scaled = input * (half + bias << digits).view(input.dtype) * (bias - exponent - half << digits).view(input.dtype)
    return _results.frexp(_core.where(plain, scaled, input), exponent.to(_core.int32))


_DIGITS = {_core.float64: 52, _core.float32: 23, _core.bfloat16: 7, _core.float16: 10}
_BITS = {8: _core.int64, 4: _core.int32, 2: _core.int16}


@inplace_method
@node("NextafterBackward0")
def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The number of the type that follows `input` in the direction of `other`. Its derivative by `input` is 1 where it moves, that by `other` 0.

    Example::

        >>> ad.nextafter(ad.tensor([1.0]), ad.tensor([2.0])) > 1
        tensor([True])
    """
    if input.dtype is not other.dtype or not input.is_floating_point():
        raise RuntimeError(f"nextafter: input and other must have one floating-point type, got {input.dtype} and {other.dtype}")
    x, y = _core.broadcast_tensors(input.detach(), other.detach())
    moving = _core.where((x != y) & x.isfinite(), input, 0.0)
    return without_effect(_next(x, y) - (moving.detach() - moving), other)  # minus zero, which keeps the zero's sign


def _next(x: Tensor, y: Tensor) -> Tensor:
    bits = x.contiguous().view(_BITS[x.element_size()])
    away = (x < y) == (x > 0)  # from zero
    moved = (bits + _core.where(away, 1, -1).to(bits.dtype)).view(x.dtype)
    least = _core.ones_like(bits).view(x.dtype)
    moved = _core.where(x == 0, _core.where(y < 0, -least, least), moved)
    return _core.where(x == y, y, _core.where(x.isnan() | y.isnan(), math.nan, moved))


@method
def msort(input: Tensor) -> Tensor:
    """Sorted along the first dimension.

    Example::

        >>> ad.msort(ad.tensor([[3.0, 1.0], [2.0, 4.0]]))
        tensor([[2., 1.],
                [3., 4.]])
    """
    return input.sort(0).values


@inplace_method
@node("RenormBackward0")
@rounded_once
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices along `dim` whose p-norm is above `maxnorm` are scaled down to it.

    Example::

        >>> ad.renorm(ad.tensor([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 2.5)
        tensor([[1.5000, 2.0000],
                [0.0000, 1.0000]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if isinstance(p, complex) or p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got {p}")
    others = [d for d, _ in enumerate(input.shape) if d != dim % input.ndim]
    norm = _core._vector_norm(input, p, others, True, None)
    return input * _core.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)


check_all(globals(), out=[name for name in __all__ if name not in ("fill", "isreal")])
