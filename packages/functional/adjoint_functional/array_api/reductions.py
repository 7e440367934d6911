"""Sums, products, extrema and statistics along axes."""

from __future__ import annotations

import adjoint_core as core
from adjoint_core import Tensor, dtype

from .data_types import KINDS, result_type

__all__ = [
    *("all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min"),
    *("prod", "std", "sum", "var"),
]

Axis = int | tuple[int, ...] | None


def _axes(x: Tensor, axis: Axis) -> tuple[int, ...]:
    """The axes as a tuple; all of them for None."""
    return tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def _summed_in(x: Tensor, given: dtype | None) -> dtype:
    """The type of sums: wide integers for small ones, without a sign if they have none."""
    if given is not None:
        return given
    unsigned = x.dtype in KINDS["unsigned integer"]
    return core.uint64 if unsigned else core.int64 if x.dtype in KINDS["integral"] else x.dtype


def sum(x: Tensor, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: bool = False) -> Tensor:
    """The sum along axes (of all elements for None), of integers in 64 bits.

    Example::

        >>> ad.array_api.sum(ad.ones((2, 3)), axis=1)
        tensor([3., 3.])
    """
    kind = _summed_in(x, dtype)
    axes = _axes(x, axis)
    return core.sum(x, axes, keepdims, dtype=kind) if axes else x.to(kind, copy=True)


def prod(x: Tensor, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: bool = False) -> Tensor:
    """The product along axes (of all elements for None), of integers in 64 bits.

    Example::

        >>> ad.array_api.prod(ad.array_api.asarray([2, 3]))
        tensor(6)
    """
    kind = _summed_in(x, dtype)
    axes = _axes(x, axis)
    if wrong := [a for a in axes if not -x.ndim <= a < x.ndim]:
        raise IndexError(f"prod: axis must be within [{-x.ndim}, {x.ndim - 1}], got {wrong[0]}")
    axes = tuple(sorted((a % x.ndim for a in axes), reverse=True))
    y = x.to(kind, copy=not axes)
    for a in axes:
        y = core.prod(y, a, keepdims, dtype=kind)
    return y


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean along axes.

    Example::

        >>> ad.array_api.mean(ad.array_api.asarray([1.0, 3.0]))
        tensor(2.)
    """
    axes = _axes(x, axis)
    return core.mean(x, axes, keepdims) if axes else x.clone()


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance along axes: squares of deviations summed, divided by their number less the correction.

    Example::

        >>> ad.array_api.var(ad.array_api.asarray([1.0, 3.0]))
        tensor(1.)
    """
    axes = _axes(x, axis)
    return core.var(x, axes, correction=correction, keepdim=keepdims) if axes else core.zeros_like(x)


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The square root of the variance along axes.

    Example::

        >>> ad.array_api.std(ad.array_api.asarray([1.0, 3.0]))
        tensor(1.)
    """
    axes = _axes(x, axis)
    return core.std(x, axes, correction=correction, keepdim=keepdims) if axes else core.zeros_like(x)


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element along axes; NaN where there is one.

    Example::

        >>> ad.array_api.max(ad.array_api.asarray([1, 3]))
        tensor(3)
    """
    axes = _axes(x, axis)
    return core.amax(x, axes, keepdims) if axes else x.clone()


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest element along axes; NaN where there is one.

    Example::

        >>> ad.array_api.min(ad.array_api.asarray([1, 3]))
        tensor(1)
    """
    axes = _axes(x, axis)
    return core.amin(x, axes, keepdims) if axes else x.clone()


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are other than zero.

    Example::

        >>> ad.array_api.all(ad.array_api.asarray([1, 0]))
        tensor(False)
    """
    axes, truth = _axes(x, axis), x.to(core.bool)
    return core.all(truth, axes, keepdims) if axes else truth


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some element along axes is other than zero.

    Example::

        >>> ad.array_api.any(ad.array_api.asarray([1, 0]))
        tensor(True)
    """
    axes, truth = _axes(x, axis), x.to(core.bool)
    return core.any(truth, axes, keepdims) if axes else truth


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are other than zero.

    Example::

        >>> ad.array_api.count_nonzero(ad.array_api.asarray([1, 0]))
        tensor(1)
    """
    return sum((x != 0).to(core.int64), axis=axis, keepdims=keepdims)


def _whole(x: Tensor, axis: int | None, keepdims: bool, pick: object) -> Tensor:
    """The position along an axis, or in the whole tensor, whose dimensions are kept if asked for."""
    found = pick(x, axis, keepdims and axis is not None)  # type: ignore[operator]
    return found.reshape((1,) * x.ndim) if axis is None and keepdims else found


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first largest element along an axis, or in the flattened tensor.

    Example::

        >>> ad.array_api.argmax(ad.array_api.asarray([1, 3]))
        tensor(1)
    """
    return _whole(x, axis, keepdims, core.argmax)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first smallest element along an axis, or in the flattened tensor.

    Example::

        >>> ad.array_api.argmin(ad.array_api.asarray([1, 3]))
        tensor(0)
    """
    return _whole(x, axis, keepdims, core.argmin)


def _cumulative(x: Tensor, axis: int | None, given: dtype | None, initial: int | None, scan: object) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"cumulative: axis must be given for a tensor of other than one dimension, got {x.ndim}")
        axis = 0
    kind = _summed_in(x, given)
    y = scan(x, axis, dtype=kind)  # type: ignore[operator]
    if initial is None:
        return y
    first = list(x.shape)
    first[axis] = 1
    return core.cat([core.full(first, initial, dtype=kind, device=x.device), y], axis)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Tensor:
    """Sums of the first 1, 2, ... elements along an axis, with a 0 in front if `include_initial`.

    Example::

        >>> ad.array_api.cumulative_sum(ad.array_api.asarray([1, 2]))
        tensor([1, 3])
    """
    return _cumulative(x, axis, dtype, 0 if include_initial else None, core.cumsum)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Tensor:
    """Products of the first 1, 2, ... elements along an axis, with a 1 in front if `include_initial`.

    Example::

        >>> ad.array_api.cumulative_prod(ad.array_api.asarray([2, 3]))
        tensor([2, 6])
    """
    return _cumulative(x, axis, dtype, 1 if include_initial else None, core.cumprod)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """Differences of neighbours along an axis, n times.

    Example::

        >>> ad.array_api.diff(ad.array_api.asarray([1, 2, 4]))
        tensor([1, 2])
    """
    kind = result_type(*(t for t in (x, prepend, append) if t is not None))
    x, prepend, append = (t if t is None else t.to(kind) for t in (x, prepend, append))
    return core.diff(x, n, axis, prepend, append)
