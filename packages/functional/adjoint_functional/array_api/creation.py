"""Tensors from shapes, numbers and other arrays."""

from __future__ import annotations

from array import array
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, dtype

__all__ = [
    *("arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid"),
    *("ones", "ones_like", "tril", "triu", "zeros", "zeros_like"),
]

Shape = int | tuple[int, ...]


def _sizes(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def asarray(obj: Any, /, *, dtype: dtype | None = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of numbers, nested sequences, arrays or tensors; `copy=False` raises where the memory cannot be shared.

    Example::

        >>> ad.array_api.asarray([1, 2]).dtype
        adjoint.int64
    """
    if dtype is None and isinstance(obj, int) and obj >= 2**63:
        dtype = core.uint64
    if isinstance(obj, bytes | bytearray | memoryview | array):  # by their values: `core.asarray` takes their bytes
        obj = memoryview(obj).tolist()
    return core.asarray(obj, dtype=dtype, device=device, copy=copy)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: dtype | None = None, device: Any = None
) -> Tensor:
    """Numbers from `start` (0 where it stands alone) up to `stop`, not included, at steps; none where the steps lead away from it.

    Example::

        >>> ad.array_api.arange(3)
        tensor([0, 1, 2])
    """
    if stop is None:
        start, stop = 0, start
    if step and (stop - start) / step <= 0:
        whole = all(isinstance(x, int) for x in (start, stop, step))
        return core.empty(0, dtype=dtype or (core.int64 if whole else None), device=device)
    return core.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: dtype | None = None, device: Any = None, endpoint: bool = True
) -> Tensor:
    """So many numbers at equal distances from `start` to `stop`, which is left out without `endpoint`.

    Example::

        >>> ad.array_api.linspace(0, 1, 2, endpoint=False)
        tensor([0.0000, 0.5000])
    """
    if not endpoint:
        return core.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]
    return core.linspace(start, stop, num, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """A matrix with ones on its k-th diagonal and zeros elsewhere.

    Example::

        >>> ad.array_api.eye(2, k=1)
        tensor([[0., 1.],
                [0., 0.]])
    """
    columns = core.arange(n_rows if n_cols is None else n_cols, device=device)
    rows = core.arange(n_rows, device=device).unsqueeze(1)
    return (rows + k == columns).to(dtype or core.get_default_dtype())


def full(shape: Shape, fill_value: complex, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """A tensor that holds one number everywhere.

    Example::

        >>> ad.array_api.full(2, 7)
        tensor([7, 7])
    """
    return core.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """A tensor whose elements are not set.

    Example::

        >>> ad.array_api.empty((2, 0)).shape
        adjoint.Size([2, 0])
    """
    return core.empty(_sizes(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """A tensor of ones.

    Example::

        >>> ad.array_api.ones(2)
        tensor([1., 1.])
    """
    return core.ones(_sizes(shape), dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """A tensor of zeros.

    Example::

        >>> ad.array_api.zeros(2)
        tensor([0., 0.])
    """
    return core.zeros(_sizes(shape), dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: complex, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """One number everywhere, in the shape of `x`.

    Example::

        >>> ad.array_api.full_like(ad.ones(2), 3)
        tensor([3., 3.])
    """
    return core.full_like(x, fill_value, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """Elements that are not set, in the shape of `x`.

    Example::

        >>> ad.array_api.empty_like(ad.ones(2)).shape
        adjoint.Size([2])
    """
    return core.empty_like(x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """Ones in the shape of `x`.

    Example::

        >>> ad.array_api.ones_like(ad.zeros(2))
        tensor([1., 1.])
    """
    return core.ones_like(x, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """Zeros in the shape of `x`.

    Example::

        >>> ad.array_api.zeros_like(ad.ones(2))
        tensor([0., 0.])
    """
    return core.zeros_like(x, dtype=dtype, device=device)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices `(..., m, n)` with zeros above their k-th diagonal.

    Example::

        >>> ad.array_api.tril(ad.ones((2, 2)))
        tensor([[1., 0.],
                [1., 1.]])
    """
    return core.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Matrices `(..., m, n)` with zeros below their k-th diagonal.

    Example::

        >>> ad.array_api.triu(ad.ones((2, 2)))
        tensor([[1., 1.],
                [0., 1.]])
    """
    return core.triu(x, k)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid with these axes: a tensor of the grid's shape for each.

    Example::

        >>> ad.array_api.meshgrid(ad.arange(2), ad.arange(3))[0].shape
        adjoint.Size([3, 2])
    """
    return tuple(core.meshgrid(*arrays, indexing=indexing)) if arrays else ()


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor in the memory of another library's array; `copy=False` raises where it cannot be shared.

    Example::

        >>> ad.array_api.from_dlpack(ad.ones(2))
        tensor([1., 1.])
    """
    return core.from_dlpack(x, device=device, copy=copy)
