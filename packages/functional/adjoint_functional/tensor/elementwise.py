"""Elementwise functions that are made of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any

from adjoint_core import Tensor, _core, _results
from adjoint_core._compose import check_all, inplace_method, method, node, rounded_once, without_effect
from adjoint_core._tensor.compressed import with_parts

__all__ = [
    "fill", "float_power", "frexp", "gcd", "isin", "isneginf", "isposinf", "isreal", "lcm", "ldexp",
    "msort", "mvlgamma", "renorm", "signbit",
]  # fmt: skip


def _of_values(f: Callable[[Tensor], Tensor], input: Tensor) -> Tensor:
    """f, which is false of 0 and has no derivative, of a tensor of any layout."""
    if not _core._is_sparse(input):
        return f(input)
    x = input.coalesce() if input.is_sparse else input
    return with_parts(x, x._indices(), f(x._values()))


def _sign(input: Tensor) -> Tensor:
    return _core._signbit(input) if input.is_floating_point() else input < 0


@method
def signbit(input: Tensor) -> Tensor:
    """Whether the sign is negative; true of -0.0 too.

    Example::

        >>> ad.signbit(ad.tensor([-0.0, 1.0]))
        tensor([ True, False])
    """
    return _of_values(_sign, input)


@inplace_method
@node("LdexpBackward0")
@rounded_once
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """input * 2**other.

    Example::

        >>> ad.ldexp(ad.tensor([1.0, 3.0]), ad.tensor([3, -1]))
        tensor([8.0000, 1.5000])
    """
    if other.is_floating_point() or other.is_complex():
        return input * _core.pow(2.0, other)
    power = _core.exp2(other.double())  # exact, and whole numbers keep the type of input, and its range
    return (input * power).to(input.dtype if input.is_floating_point() or input.is_complex() else _core.get_default_dtype())


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


@inplace_method
@node("MvlgammaBackward0")
@rounded_once
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Example::

        >>> ad.mvlgamma(ad.tensor([2.0, 3.0]), 2)
        tensor([0.4516, 1.5502])
    """
    p = index(p)
    if p < 1:
        raise RuntimeError(f"mvlgamma: p has to be greater than or equal to 1, got {p}")
    if p == 1:
        return _core.lgamma(input)
    shifts = _core.arange(p, dtype=input.dtype if input.is_floating_point() else None, device=input.device) / 2
    return _core.lgamma(input - shifts.reshape([p] + [1] * input.ndim)).sum(0) + p * (p - 1) / 4 * math.log(math.pi)


@inplace_method
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor of integers, not negative.

    Example::

        >>> ad.gcd(ad.tensor([12, 0]), ad.tensor([-18, 5]))
        tensor([6, 5])
    """
    if any(x.is_floating_point() or x.is_complex() for x in (input, other)):
        raise RuntimeError(f"gcd: expected integers, got {input.dtype} and {other.dtype}")
    common = _core.result_type(input, other)
    a, b = _core.broadcast_tensors(input.to(common).abs(), other.to(common).abs())
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
    divisor = gcd(input, other).clamp_min(1)
    return (input.to(divisor.dtype) // divisor * other.to(divisor.dtype)).abs()


@method
def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part is zero.

    Example::

        >>> ad.isreal(ad.tensor([1.0 + 0.0j, 2.0j]))
        tensor([ True, False])
    """
    return input.imag == 0 if input.is_complex() else _core.ones_like(input, dtype=_core.bool)


def _ordered(name: str, input: Tensor) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"{name} does not support complex inputs, got {input.dtype}")
    return input


def _is(limit: float, input: Tensor) -> Tensor:
    """Whether an element is infinite; no integer is."""
    if input.is_floating_point():
        return _of_values(lambda x: x == limit, input)
    return _of_values(lambda x: _core.zeros_like(x, dtype=_core.bool), input)


@method
def isposinf(input: Tensor) -> Tensor:
    """Whether an element is infinity.

    Example::

        >>> ad.isposinf(ad.tensor([float('inf'), 1.0]))
        tensor([ True, False])
    """
    return _is(math.inf, _ordered("isposinf", input))


@method
def isneginf(input: Tensor) -> Tensor:
    """Whether an element is minus infinity.

    Example::

        >>> ad.isneginf(ad.tensor([-float('inf'), 1.0]))
        tensor([ True, False])
    """
    return _is(-math.inf, _ordered("isneginf", input))


def isin(
    elements: Tensor | float, test_elements: Tensor | float, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each of `elements` is among `test_elements`.

    Example::

        >>> ad.isin(ad.tensor([1, 2, 3]), ad.tensor([3, 1]))
        tensor([ True, False,  True])
    """
    if not isinstance(elements, Tensor):
        elements = _core.tensor(elements, device=getattr(test_elements, "device", None))
    tested = test_elements if isinstance(test_elements, Tensor) else _core.tensor(test_elements, device=elements.device)
    if tested.numel() <= 16 or elements.is_complex() or tested.is_complex():
        found = _core._is_among(elements, tested)
    else:  # so many that looking for each in their order takes less
        kind = _core.result_type(elements, tested)
        elements, tested = elements.detach().to(kind), tested.detach().reshape(-1).to(kind).sort().values
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
    return _results.frexp(_core._mantissa(input), _core._exponent(input.detach()))


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
    input.size(dim)  # says what is wrong with it
    others = [d for d, _ in enumerate(input.shape) if d != dim % input.ndim]
    norm = _core._vector_norm(input, p, others, True, None)
    return input * _core.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)


check_all(globals(), out=[name for name in __all__ if name not in ("fill", "isreal")])
