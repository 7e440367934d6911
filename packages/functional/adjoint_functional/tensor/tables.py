"""Tables: of positions in a tensor, of combinations of elements, of powers."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, _core, strided
from adjoint_core._compose import check_all
from adjoint_core._warnings import warn

__all__ = ["cartesian_prod", "combinations", "range", "tril_indices", "triu_indices", "unravel_index", "vander"]


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to take r elements of a vector in order, as rows.

    Example::

        >>> ad.combinations(ad.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    if r < 0:
        raise RuntimeError(f"combinations: expect a non-negative number, but got {r}")
    if input.ndim != 1:
        raise RuntimeError(f"combinations: expected a 1D vector, but got shape {list(input.shape)}")
    if r == 0:
        return input.new_empty(0)
    n, at = input.size(0), _core.arange(input.size(0)).unsqueeze(1)
    if r > n and not with_replacement:
        return input[_core.zeros(0, r, dtype=_core.int64, device=input.device)]
    if r > 1 << 20:  # rows are made element by element, and there would be more than memory holds
        raise RuntimeError(f"combinations: expect at most {1 << 20} elements a row, but got {r}")
    for _ in builtins.range(r - 1):  # each row goes on with every element behind its last one
        first = at[:, -1] + (0 if with_replacement else 1)
        counts = n - first
        after = (first - counts.cumsum(0) + counts).repeat_interleave(counts)
        at = _core.cat([at.repeat_interleave(counts, 0), (after + _core.arange(after.numel())).unsqueeze(1)], 1)
    return input[_core._cuda.uploaded(at, input.device)]


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All tuples of elements of the given vectors, as rows.

    Example::

        >>> ad.cartesian_prod(ad.tensor([1, 2]), ad.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    if len(tensors) == 1:
        return tensors[0].view(-1)
    return _core.stack([x.reshape(-1) for x in _core.meshgrid(*tensors, indexing="ij")], 1)


def _triangle(
    name: str, keep: Callable[[Tensor, int], Tensor], row: int, col: int, offset: int, dtype: Any, layout: Any, device: Any
) -> Tensor:
    if layout not in (None, strided):
        raise RuntimeError(f"{name}: only strided tensors are made, got {layout}")
    inside = keep(_core.ones(row, col, dtype=_core.bool), offset)
    places = inside.nonzero().T.contiguous().to(dtype or _core.int64)
    return _core._cuda.uploaded(places, _core.device(device or "cpu"))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None) -> Tensor:
    """The (2, n) positions of the lower triangle of a (row, col) matrix, row by row.

    Example::

        >>> ad.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    return _triangle("tril_indices", _core.tril, row, col, offset, dtype, layout, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None) -> Tensor:
    """The (2, n) positions of the upper triangle of a (row, col) matrix, row by row.

    Example::

        >>> ad.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """
    return _triangle("triu_indices", _core.triu, row, col, offset, dtype, layout, device)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """The powers of a vector as columns, from the highest down unless `increasing`.

    Example::

        >>> ad.vander(ad.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """
    if x.ndim != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got shape {list(x.shape)}")
    powers = _core.arange(x.size(0) if N is None else N, device=x.device)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Positions in a flat array as one index for each dimension of `shape`.

    Example::

        >>> ad.unravel_index(ad.tensor([5, 2]), (2, 3))
        (tensor([1, 0]), tensor([2, 2]))
    """
    if indices.is_floating_point() or indices.is_complex() or indices.dtype is _core.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    out, indices = [], indices.long()  # sizes may be above what a small type holds
    for n in reversed(sizes):
        out.append(indices % n)
        indices = indices // n
    return tuple(reversed(out))


def range(start: float, end: float | None = None, step: float = 1, *, dtype: Any = None, **options: Any) -> Tensor:
    """Values from `start` to `end`, with `end`: `arange` is the usual one.

    Example::

        >>> ad.range(1, 3)
        tensor([1., 2., 3.])
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
        "builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    first, last = (0, start) if end is None else (start, end)
    n = int((last - first) / step) + 1
    return _core.arange(0, n, dtype=dtype or _core.get_default_dtype(), **options) * step + first


check_all(globals(), out=("range",))
