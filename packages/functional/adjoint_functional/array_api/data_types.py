"""Types of elements: which kind they are, what they can hold, which type results have."""

from __future__ import annotations

from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor, dtype

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

KINDS = {
    "bool": (core.bool,),
    "signed integer": (core.int8, core.int16, core.int32, core.int64),
    "unsigned integer": (core.uint8, core.uint16, core.uint32, core.uint64),
    "real floating": (core.float16, core.bfloat16, core.float32, core.float64),
    "complex floating": (core.complex64, core.complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


class FloatInfo(NamedTuple):
    """What numbers of a floating-point type can hold."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


class IntegerInfo(NamedTuple):
    """What integers of a type can hold."""

    bits: int
    max: int
    min: int
    dtype: dtype


def _type_of(x: Any) -> dtype:
    return x.dtype if isinstance(x, Tensor) else x


def finfo(type: dtype | Tensor, /) -> FloatInfo:
    """The limits of a floating-point type; of a complex one, those of its parts.

    Example::

        >>> ad.array_api.finfo(ad.float32).bits
        32
    """
    info = core.finfo(_type_of(type))
    return FloatInfo(info.bits, info.eps, info.max, info.min, info.smallest_normal, getattr(core, info.dtype))


def iinfo(type: dtype | Tensor, /) -> IntegerInfo:
    """The limits of a type of integers.

    Example::

        >>> ad.array_api.iinfo(ad.int8).max
        127
    """
    info = core.iinfo(_type_of(type))
    return IntegerInfo(info.bits, info.max, info.min, getattr(core, info.dtype))


def isdtype(dtype: dtype, kind: dtype | str | tuple[dtype | str, ...]) -> bool:
    """Whether a type is the one named, or of the kind named, or of any of them; ValueError for other kinds.

    Example::

        >>> ad.array_api.isdtype(ad.int8, ("bool", "integral"))
        True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: kind must be one of {sorted(KINDS)}, got {kind!r}")
        return dtype in KINDS[kind]
    return dtype is kind


def _promoted(a: dtype, b: dtype) -> dtype:
    signed = (core.int8, core.int16, core.int32, core.int64)
    if {a, b} & {core.uint64} and (a in signed or b in signed):
        raise TypeError(f"result_type: there is no type of integers for {a} and {b}")
    return core.promote_types(a, b)


def result_type(*arrays_and_dtypes: Tensor | dtype | complex) -> dtype:
    """The type of what comes of these tensors, types and numbers; a number counts by its kind only.

    Example::

        >>> ad.array_api.result_type(ad.ones((), dtype=ad.int64), ad.int8)
        adjoint.int64
    """
    types = [_type_of(x) for x in arrays_and_dtypes if not isinstance(x, (bool, int, float, complex))]
    if not types:
        raise ValueError("result_type: expected a tensor or a type, got numbers only")
    found = types[0]
    for other in types[1:]:
        found = _promoted(found, other)
    return with_numbers(found, [x for x in arrays_and_dtypes if isinstance(x, (bool, int, float, complex))])


def with_numbers(found: dtype, numbers: list[complex]) -> dtype:
    """The type, or the smallest like it that can hold numbers of these kinds."""
    for x in numbers:
        if isinstance(x, complex):
            found = core.complex128 if found in (core.float64, core.complex128) else core.complex64
        elif isinstance(x, float) and not (found.is_floating_point or found.is_complex):
            found = core.get_default_dtype()
        elif not isinstance(x, bool) and found is core.bool:
            found = core.int64
    return found


def can_cast(from_: dtype | Tensor, to: dtype, /) -> bool:
    """Whether values of one type become values of another by the standard's rules of promotion.

    Example::

        >>> ad.array_api.can_cast(ad.int8, ad.int16)
        True
    """
    try:
        return _promoted(_type_of(from_), to) is to
    except TypeError:
        return False


def astype(x: Tensor, dtype: dtype, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The tensor with elements of another type; without `copy`, itself where it has that type already.

    Example::

        >>> ad.array_api.astype(ad.ones(2), ad.int64).dtype
        adjoint.int64
    """
    return x.to(device=x.device if device is None else device, dtype=dtype, copy=copy)
