"""Shapes and the order of elements."""

from __future__ import annotations

from collections.abc import Sequence

import adjoint_core as core
from adjoint_core import Tensor

from .data_types import result_type

__all__ = [
    *("broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims"),
    *("repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack"),
]


def _of_one_type(arrays: Sequence[Tensor]) -> list[Tensor]:
    kind = result_type(*arrays)
    return [x.to(kind) for x in arrays]


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """The tensors as views of their common shape.

    Example::

        >>> ad.array_api.broadcast_arrays(ad.ones(2), ad.ones((3, 1)))[0].shape
        adjoint.Size([3, 2])
    """
    return tuple(core.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of these.

    Example::

        >>> ad.array_api.broadcast_shapes((2,), (3, 1))
        (3, 2)
    """
    return tuple(core.broadcast_shapes(*shapes))


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A view of another shape that repeats elements.

    Example::

        >>> ad.array_api.broadcast_to(ad.ones(2), (3, 2)).shape
        adjoint.Size([3, 2])
    """
    return core.broadcast_to(x, shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """The tensors behind one another along an axis; flattened, for None.

    Example::

        >>> ad.array_api.concat([ad.ones(1), ad.zeros(1)])
        tensor([1., 0.])
    """
    parts = _of_one_type(arrays)
    return core.cat([x.reshape(-1) for x in parts]) if axis is None else core.cat(parts, axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """The tensors along a new axis.

    Example::

        >>> ad.array_api.stack([ad.ones(2), ad.ones(2)]).shape
        adjoint.Size([2, 2])
    """
    return core.stack(_of_one_type(arrays), axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis.

    Example::

        >>> ad.array_api.unstack(ad.array_api.asarray([1, 2]))
        (tensor(1), tensor(2))
    """
    return tuple(core.unbind(x, axis))


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """The tensor with new axes of length 1, which stand in the result where `axis` says; IndexError outside of it.

    Example::

        >>> ad.array_api.expand_dims(ad.ones(2), 0).shape
        adjoint.Size([1, 2])
    """
    axes = (axis,) if isinstance(axis, int) else axis
    ndim = x.ndim + len(axes)
    if any(not -ndim <= a < ndim for a in axes):
        raise IndexError(f"expand_dims: axis must be within [{-ndim}, {ndim - 1}], got {axis}")
    for a in sorted(a % ndim for a in axes):
        x = core.unsqueeze(x, a)
    return x


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """The tensor without axes of length 1; ValueError for others.

    Example::

        >>> ad.array_api.squeeze(ad.ones((1, 2)), 0).shape
        adjoint.Size([2])
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if any(x.shape[a] != 1 for a in axes):
        raise ValueError(f"squeeze: axes must have length 1, got {axis} of shape {tuple(x.shape)}")
    return core.squeeze(x, axes)


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in reverse order along axes (all, for None).

    Example::

        >>> ad.array_api.flip(ad.array_api.asarray([1, 2]))
        tensor([2, 1])
    """
    return core.flip(x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis))


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements moved along axes, those at the end to the front; in the flattened tensor, for None.

    Example::

        >>> ad.array_api.roll(ad.array_api.asarray([1, 2, 3]), 1)
        tensor([3, 1, 2])
    """
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    return core.roll(x, shift) if axis is None else core.roll(x, shift, axis)


def moveaxis(x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Tensor:
    """The tensor with axes at other places.

    Example::

        >>> ad.array_api.moveaxis(ad.ones((2, 3)), 0, 1).shape
        adjoint.Size([3, 2])
    """
    return core.movedim(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """The tensor with its axes in this order.

    Example::

        >>> ad.array_api.permute_dims(ad.ones((2, 3)), (1, 0)).shape
        adjoint.Size([3, 2])
    """
    return core.permute(x, axes)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times along an axis; in the flattened tensor, for None.

    Example::

        >>> ad.array_api.repeat(ad.array_api.asarray([1, 2]), 2)
        tensor([1, 1, 2, 2])
    """
    times = repeats.to(core.int64) if isinstance(repeats, Tensor) else repeats
    return core.repeat_interleave(x, times, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape; `copy=False` raises where that takes a copy.

    Example::

        >>> ad.array_api.reshape(ad.arange(4), (2, 2)).shape
        adjoint.Size([2, 2])
    """
    if copy is False:
        return x.view(shape)
    y = core.reshape(x, shape)
    return y.clone() if copy and y.data_ptr() == x.data_ptr() else y


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The tensor several times along each axis.

    Example::

        >>> ad.array_api.tile(ad.array_api.asarray([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    return core.tile(x, repetitions)
