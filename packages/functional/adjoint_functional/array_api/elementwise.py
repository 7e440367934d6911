"""Functions of elements, with the standard's promotion of types: tensors of no dimension count as all others."""

from __future__ import annotations

from collections.abc import Callable

import adjoint_core as core
from adjoint_core import Tensor

from ..tensor.elementwise import signbit as _signbit
from .data_types import result_type

OF_ONE = {
    **{name: name for name in "abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor".split()},
    **{name: name for name in "imag isfinite isinf isnan log log10 log1p log2 logical_not negative".split()},
    **{name: name for name in "positive real reciprocal sin sinh sqrt square tan tanh trunc".split()},
    "bitwise_invert": "bitwise_not",
}
OF_TWO = {
    **{name: name for name in "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift".split()},
    **{name: name for name in "bitwise_xor copysign divide hypot logaddexp logical_and logical_or".split()},
    **{name: name for name in "logical_xor maximum minimum multiply nextafter pow subtract".split()},
    **{"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
}

__all__ = [*OF_ONE, *OF_TWO, "clip", "floor_divide", "remainder", "round", "sign", "signbit", "where"]


def of_one_type(*xs: Tensor | complex) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of the type of what comes of them."""
    place = next((x.device for x in xs if isinstance(x, Tensor)), None)
    kind = result_type(*xs)
    return tuple(x.to(kind) if isinstance(x, Tensor) else core.asarray(x, dtype=kind, device=place) for x in xs)


def _of_one(name: str, run: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def f(x: Tensor, /) -> Tensor:
        return run(x)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"`{run.__name__}` of each element."
    return f


def _of_two(name: str, run: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    def f(x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
        return run(*of_one_type(x1, x2))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"`{run.__name__}` of each pair of elements, computed in the type that is promoted of both."
    return f


globals().update({name: _of_one(name, getattr(core, own)) for name, own in OF_ONE.items()})
globals().update({name: _of_two(name, getattr(core, own)) for name, own in OF_TWO.items()})
signbit = _of_one("signbit", _signbit)


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1 by the sign of each element, of complex ones the number of size 1 in its direction; of NaN it is NaN.

    Example::

        >>> ad.array_api.sign(ad.array_api.asarray([-2.0, 0.0, float("nan")]))
        tensor([-1.,  0., nan])
    """
    return core.where(core.isnan(x), x, core.sgn(x))


def round(x: Tensor, /) -> Tensor:
    """The nearest integer of each element, the even one of two; of a complex number, of both parts.

    Example::

        >>> ad.array_api.round(ad.array_api.asarray([0.5, 1.5]))
        tensor([0., 2.])
    """
    return core.complex(core.round(x.real), core.round(x.imag)) if x.is_complex() else core.round(x)


def floor_divide(x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
    """The quotient rounded down; infinite where it is infinite.

    Example::

        >>> ad.array_api.floor_divide(ad.array_api.asarray(-7), 2)
        tensor(-4)
    """
    a, b = of_one_type(x1, x2)
    quotient = core.floor_divide(a, b)
    if not a.is_floating_point():
        return quotient
    return core.where(core.isinf(a) | core.isinf(b), core.floor(core.div(a, b)), quotient)


def remainder(x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
    """What is left of a division rounded down; it has the sign of `x2`, a zero too.

    Example::

        >>> ad.array_api.remainder(ad.array_api.asarray(-7), 2)
        tensor(1)
    """
    a, b = of_one_type(x1, x2)
    rest = core.remainder(a, b)
    return core.where(rest == 0, core.copysign(rest, b), rest) if a.is_floating_point() else rest


def clip(x: Tensor, /, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """The elements within bounds, which are broadcast against them; the type is that of `x`.

    Example::

        >>> ad.array_api.clip(ad.array_api.asarray([1, 5]), 2, 4)
        tensor([2, 4])
    """
    for bound, pick in ((min, core.maximum), (max, core.minimum)):
        if bound is not None:
            limit = bound.to(x.dtype) if isinstance(bound, Tensor) else core.asarray(bound, dtype=x.dtype, device=x.device)
            x = pick(x, limit)
    return x.clone() if min is None and max is None else x


def where(condition: Tensor, x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
    """Elements of `x1` where the condition holds, else of `x2`.

    Example::

        >>> ad.array_api.where(ad.array_api.asarray([True, False]), ad.array_api.asarray([1, 2]), 0)
        tensor([1, 0])
    """
    return core.where(condition, *of_one_type(x1, x2))
