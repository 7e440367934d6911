"""A tensor with other values at some positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, inplace_method, method, node
from adjoint_core._warnings import warn

__all__ = ["as_strided_scatter", "index_reduce", "put", "resize_as_"]


def _expect_tensors(index: Any, source: Any) -> None:
    if isinstance(index, Tensor) and isinstance(source, Tensor):
        return
    name, position, value = ("source", 2, source) if isinstance(index, Tensor) else ("index", 1, index)
    raise TypeError(f"put_(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}")


@method
@node("PutBackward0")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`input`, seen as a vector, with source at `index`.

    Example::

        >>> ad.put(ad.zeros(2, 2), ad.tensor([0, 3]), ad.tensor([1.0, 2.0]))
        tensor([[1., 0.],
                [0., 2.]])
    """
    _expect_tensors(index, source)
    return _core._put(input, index, source, accumulate)


@method
def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """The in-place form of `put`: where the tensor is contiguous, only what is written is touched."""
    if not self.is_contiguous():
        return self.copy_(put(self.clone(), index, source, accumulate))
    _expect_tensors(index, source)
    _core._expect_puttable(self, index, source)
    self.view(-1).index_put_((index.reshape(-1),), source.reshape(-1), accumulate)
    return self


@inplace_method
@node("IndexReduceBackward0")
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """Row i of `source` along `dim` is reduced ("prod", "mean", "amax", "amin") into row index[i] of `input`.

    Example::

        >>> ad.index_reduce(ad.ones(2), 0, ad.tensor([0, 0]), ad.tensor([3.0, 5.0]), 'amax')
        tensor([5., 1.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    if input.ndim == 0:
        row = index_reduce(input.reshape(1), dim, index.reshape(1), source.reshape(1), reduce, include_self=include_self)
        return row.reshape(())
    if index.numel() != source.size(dim):
        raise RuntimeError(
            f"index_reduce(): Number of indices ({index.numel()}) should be equal to source.size(dim): ({source.size(dim)}), for dim: {dim}"
        )
    shape = [1] * source.ndim
    shape[dim] = -1
    return input.scatter_reduce(dim, index.view(shape).expand_as(source), source, reduce, include_self=include_self)


def _resized(self: Tensor, size: Any) -> Tensor:
    if math.prod(size) != self.numel() or any(n < 0 for n in size):
        raise RuntimeError(
            f"requested resize to {tuple(size)} ({math.prod(size)} elements in total), but the given tensor has a size of "
            f"{tuple(self.shape)} ({self.numel()} elements): resize changes the shape and keeps the number of elements"
        )
    return self.reshape(size)


@method
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """`reshape`, under a deprecated name.

    Raises:
        RuntimeError: another number of elements.
    """
    warn("non-inplace resize is deprecated")
    return _resized(self, sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)


@method
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """`resize` to the shape of another."""
    warn("non-inplace resize_as is deprecated")
    return _resized(self, tuple(tensor.shape))


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Resizes the tensor in place to the shape of another.

    Example::

        >>> ad.resize_as_(ad.ones(3), ad.ones(2))
        tensor([1., 1.])
    """
    return input.resize_as_(the_template, memory_format=memory_format)


@method
@node("AsStridedScatterBackward0")
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of the input in which `src` stands where `as_strided` with these arguments looks.

    Example::

        >>> ad.as_strided_scatter(ad.zeros(2, 2), ad.ones(2), (2,), (3,))
        tensor([[1., 0.],
                [0., 1.]])
    """
    y = input.clone()
    y.as_strided(size, stride, storage_offset).copy_(src)
    return y


check_all(globals(), out=("index_reduce",))
