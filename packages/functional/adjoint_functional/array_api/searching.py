"""Order, positions and sets of elements."""

from __future__ import annotations

from typing import NamedTuple

import adjoint_core as core
from adjoint_core import Tensor

from .elementwise import of_one_type

__all__ = [
    *("argsort", "isin", "nonzero", "searchsorted", "sort", "take", "take_along_axis"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
]


class UniqueAll(NamedTuple):
    """Each value once, where it first stands, which of them each element is, and how often it occurs."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Each value once and how often it occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Each value once and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis.

    Example::

        >>> ad.array_api.sort(ad.array_api.asarray([2, 1]))
        tensor([1, 2])
    """
    return core.sort(x, dim=axis, descending=descending, stable=stable)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The positions of the elements in order along an axis.

    Example::

        >>> ad.array_api.argsort(ad.array_api.asarray([2, 1]))
        tensor([1, 0])
    """
    return core.sort(x, dim=axis, descending=descending, stable=stable)[1]


def searchsorted(x1: Tensor, x2: Tensor | float, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where elements of `x2` would stand in `x1`, which is in order, or is by `sorter`.

    Example::

        >>> ad.array_api.searchsorted(ad.array_api.asarray([1, 3]), ad.array_api.asarray([2]))
        tensor([1])
    """
    a, b = of_one_type(x1, x2)
    if sorter is not None:
        a = core.index_select(a, 0, sorter.to(core.int64))
    return core.searchsorted(a, b, side=side)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The positions of elements other than zero, a tensor for each axis; ValueError for a tensor without axes.

    Example::

        >>> ad.array_api.nonzero(ad.array_api.asarray([0, 1]))
        (tensor([1]),)
    """
    if not x.ndim:
        raise ValueError("nonzero: expected a tensor with at least one axis, got none")
    return tuple(core.nonzero(x, as_tuple=True))


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices at these positions along an axis, which may be left out of a tensor that has one.

    Example::

        >>> ad.array_api.take(ad.array_api.asarray([3, 4]), ad.array_api.asarray([1]))
        tensor([4])
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis must be given for a tensor of other than one axis, got {x.ndim}")
        axis = 0
    places = indices.to(core.int64)
    return core.index_select(x, axis, core.where(places < 0, places + x.shape[axis], places))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at these positions along an axis; the other axes are broadcast.

    Example::

        >>> ad.array_api.take_along_axis(ad.array_api.asarray([3, 4]), ad.array_api.asarray([1, 1]))
        tensor([4, 4])
    """
    places = indices.to(core.int64)
    return core.take_along_dim(x, core.where(places < 0, places + x.shape[axis], places), axis)


def isin(x1: Tensor | complex, x2: Tensor | complex, /, *, invert: bool = False) -> Tensor:
    """Whether each element of `x1` is one of `x2`.

    Example::

        >>> ad.array_api.isin(ad.array_api.asarray([1, 2]), ad.array_api.asarray([2]))
        tensor([False,  True])
    """
    a, b = of_one_type(x1, x2)
    found = core.any(a.unsqueeze(-1) == b.reshape(-1), -1)
    return ~found if invert else found


def unique_all(x: Tensor, /) -> UniqueAll:
    """The values in order, with where they are first, which each element is, and how often they occur; each NaN is another value.

    Example::

        >>> ad.array_api.unique_all(ad.array_api.asarray([2, 1, 2])).counts
        tensor([1, 2])
    """
    flat = x.reshape(-1)
    order = _order(flat)
    ranked = flat[order]
    begins = core.ones(flat.shape, dtype=core.bool, device=x.device)
    begins[1:] = ranked[1:] != ranked[:-1]
    first = core.nonzero(begins)[:, 0]
    inverse = core.empty_like(order)
    inverse[order] = core.cumsum(begins, 0) - 1
    ends = core.cat([first[1:], first.new_full((1 if flat.numel() else 0,), flat.numel())])
    return UniqueAll(ranked[first], order[first], inverse.reshape(x.shape), ends - first)


def _order(flat: Tensor) -> Tensor:
    """The positions in ascending order, equal elements as they come; complex ones by their real parts first."""
    if not flat.is_complex():
        return core.sort(flat, stable=True)[1]
    by_imaginary = core.sort(flat.imag, stable=True)[1]
    return by_imaginary[core.sort(flat.real[by_imaginary], stable=True)[1]]


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The values in order and how often they occur.

    Example::

        >>> ad.array_api.unique_counts(ad.array_api.asarray([2, 1, 2])).values
        tensor([1, 2])
    """
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The values in order and which of them each element is.

    Example::

        >>> ad.array_api.unique_inverse(ad.array_api.asarray([2, 1, 2])).inverse_indices
        tensor([1, 0, 1])
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The values in order.

    Example::

        >>> ad.array_api.unique_values(ad.array_api.asarray([2, 1, 2]))
        tensor([1, 2])
    """
    return unique_all(x).values
