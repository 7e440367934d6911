"""Tensors filled with random numbers, to try functions on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, dtype


def make_tensor(
    *shape: int | Sequence[int],
    dtype: dtype,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Random numbers, evenly distributed in [low, high); real and imaginary parts each, for complex types.

    Arguments:
        shape: ints, or one sequence of them.
        dtype: the element type.
        device: where.
        low, high: by default [-9, 9) for floating-point and complex types, [-9, 10) for signed integers, [0, 10) for uint8
            and [0, 2) for bools; cut to what the type can hold.
        requires_grad: operations on the tensor are recorded.
        noncontiguous: every other element of memory, unless there are fewer than two.
        exclude_zero: zeros are replaced by the smallest positive number of the type.
        memory_format: the order in memory.

    Raises:
        ValueError: an empty interval, or one that the type cannot hold; ``requires_grad`` of an integer type; ``noncontiguous`` with
            a memory format.

    Example::

        >>> ad.testing.make_tensor(2, 3, dtype=ad.float64, low=1).ge(1).all()
        tensor(True)
    """
    first = shape[0] if len(shape) == 1 else shape
    sizes = (first,) if isinstance(first, int) else tuple(first)  # type: ignore[arg-type]
    differentiable = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got noncontiguous=True and memory_format={memory_format}"
        )
    if requires_grad and not differentiable:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}")
    spread = noncontiguous and math.prod(sizes) > 1
    x = _filled((*sizes[:-1], 2 * sizes[-1]) if spread else sizes, dtype, *_interval(dtype, low, high))
    x = x[..., ::2] if spread else x
    if exclude_zero:
        x[x == 0] = core.finfo(dtype).tiny if differentiable else 1
    if memory_format is not None:
        x = x.contiguous(memory_format=memory_format)
    return x.to(device).detach().requires_grad_(requires_grad)


def _interval(dtype: dtype, low: float | None, high: float | None) -> tuple[float, float]:
    default = (-9, 9) if dtype.is_floating_point or dtype.is_complex else (-9, 10)
    if dtype is core.bool:
        default, least, most = (0, 2), 0, 2
    elif dtype.is_floating_point or dtype.is_complex:
        most = core.finfo(dtype).max
        least = -most
    else:
        least, most = core.iinfo(dtype).min, core.iinfo(dtype).max + 1
        default = (0, 10) if least == 0 else default
    low, high = (given if given is not None else usual for given, usual in zip((low, high), default))
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        warnings.warn(
            "Passing `low==high` to make_tensor is deprecated: use `full` for a tensor of one value",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high <= least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{least}, {most})"
        )
    return max(low, least), min(high, most)


def _filled(sizes: tuple[int, ...], dtype: dtype, low: float, high: float) -> Tensor:
    if dtype.is_complex:
        return core.view_as_complex(_filled((*sizes, 2), dtype.to_real(), low, high))
    if dtype.is_floating_point and low == high:
        return core.full(sizes, low, dtype=dtype)
    if dtype.is_floating_point and high - low <= core.finfo(dtype).max:
        return core.empty(sizes, dtype=dtype).uniform_(low, high)
    if dtype.is_floating_point:
        share = core.rand(sizes, dtype=core.float64)
        x = (low * (1 - share) + high * share).to(dtype)  # high - low may overflow
        return x.clamp_(max=core.nextafter(core.tensor(high, dtype=dtype), core.tensor(low, dtype=dtype)))
    first, end = math.ceil(low), math.ceil(high)
    if first >= end:
        raise ValueError(f"there is no {dtype} in [{low}, {high})")
    return core.randint(first, min(end, 2**63 - 1), sizes).to(dtype)
