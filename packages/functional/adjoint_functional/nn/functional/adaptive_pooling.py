"""Pooling to a size that is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import ShapeError, Tensor, _core
from adjoint_core._compose import rounded_once
from adjoint_core._whole import is_whole

from .window_sizes import Ints, per_dimension

SHORT = 256
"Elements of a window that one lane of a GPU looks at one after the other."


def _has_kernel(x: Tensor) -> bool:
    """Whether pooling into unequal parts is one pass over memory; on other devices it is composed."""
    return not x.is_cuda and x.is_floating_point() and not x.is_sparse


def _adaptive(x: Tensor, dim: int, size: int) -> Tensor:
    n = x.size(dim)
    if n == 0 or not 0 <= size < 2**31:
        raise RuntimeError(
            f"adaptive_avg_pool: expected a dimension that is not empty and an output size that fits 32 bits, got {n} and {size}"
        )
    if size and n % size == 0:
        return x.unflatten(dim, (size, n // size)).mean(dim)
    at, lengths = _windows(n, size, x.device)
    parts = x.index_select(dim, at.flatten()).unflatten(dim, tuple(at.shape))
    inside = _core.arange(at.size(1), device=x.device) < lengths.unsqueeze(1)
    behind = [1] * (-dim - 1)
    return _core.where(inside.reshape(*at.shape, *behind), parts, 0).sum(dim) / lengths.reshape(size, *behind)


def _windows(n: int, size: int, device: Any) -> tuple[Tensor, Tensor]:
    """Positions (size, longest) of nearly equal windows of a line of n, the shorter ones with their last again, and lengths (size,)."""
    rest = n % size if size else 0
    longest = n // max(size, 1) + (
        0 if rest == 0 else 1 if size % rest == 0 else 2
    )  # a window may begin and end within an element
    number = _core.arange(size, device=device)
    first = _core.div(number * n, size, rounding_mode="floor")
    last = _core.div((number + 1) * n - 1, size, rounding_mode="floor")
    return _core.minimum(first.unsqueeze(1) + _core.arange(longest, device=device), last.unsqueeze(1)), last - first + 1


@rounded_once
def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """Means over `output_size` nearly equal windows of the last dimension.

    Example::

        >>> ad.nn.functional.adaptive_avg_pool1d(ad.tensor([[1., 3., 2., 4.]]), 2)
        tensor([[2., 3.]])
    """
    sizes = per_dimension(output_size, 1)
    if len(sizes) != 1:
        raise RuntimeError(f"adaptive_avg_pool1d: output_size should contain one int, got {len(sizes)}")
    return _core._adaptive_avg_pool(input, sizes) if _has_kernel(input) else _adaptive(input, -1, sizes[0])


@rounded_once
def adaptive_mean(input: Tensor, output_size: int | Sequence[int | None], n: int) -> Tensor:
    sizes = [output_size] * n if is_whole(output_size) else list(output_size)
    if len(sizes) != n:
        raise RuntimeError(f"adaptive_avg_pool{n}d: output_size must be {n}, got {len(sizes)} sizes")
    if input.ndim not in (n + 1, n + 2):
        raise ShapeError(f"adaptive_avg_pool{n}d: Input dimension should be {n + 1} or {n + 2}, got {input.ndim}")
    if _has_kernel(input):
        return _core._adaptive_avg_pool(input, [m if s is None else s for s, m in zip(sizes, input.shape[-n:])])
    for dim, size in zip(range(-n, 0), sizes):
        input = _adaptive(input, dim, input.size(dim) if size is None else size)
    return input


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Means over nearly equal windows of the last two dimensions; None keeps a size.

    Example::

        >>> ad.nn.functional.adaptive_avg_pool2d(ad.ones(1, 1, 4, 4), 1)
        tensor([[[[1.]]]])
    """
    return adaptive_mean(input, output_size, 2)


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Means over nearly equal windows of the last three dimensions; None keeps a size.

    Example::

        >>> ad.nn.functional.adaptive_avg_pool3d(ad.arange(8.0).reshape(1, 2, 2, 2), (1, None, 1))
        tensor([[[[2.5000],
                  [4.5000]]]])
    """
    return adaptive_mean(input, output_size, 3)


def _adaptive_max(input: Tensor, sizes: Sequence[int | None], n: int) -> tuple[Tensor, Tensor]:
    """The maximum of each cell of a grid over the last n dimensions, with its position in them."""
    if len(sizes) != n:
        raise RuntimeError(f"adaptive_max_pool{n}d: output_size must be {n} sizes, got {len(sizes)}")
    if input.ndim not in (n + 1, n + 2):
        raise ShapeError(f"adaptive_max_pool{n}d: Input dimension should be {n + 1} or {n + 2}, got {input.ndim}")
    shape = input.shape[-n:]
    cells = [m if s is None else s for s, m in zip(sizes, shape)]
    if _has_kernel(input):
        return _core._adaptive_max_pool(input, cells)
    if all(0 < size <= m and m % size == 0 for m, size in zip(shape, cells)) and not input.is_sparse:
        equal = [m // size for m, size in zip(shape, cells)]
        if math.prod(equal) <= SHORT:
            return _core._max_pool(input, equal, equal, [0] * n, [1] * n, False)
    windows, position = input.detach(), _core.zeros((), dtype=_core.int64, device=input.device)
    for d, (m, size) in enumerate(zip(shape, cells)):
        if m == 0 or size < 0:
            raise RuntimeError(
                f"adaptive_max_pool{n}d: expected dimensions that are not empty and sizes >= 0, got {tuple(shape)} and {cells}"
            )
        at = _windows(m, size, input.device)[0]
        windows = windows.index_select(d - n, at.flatten())
        place = [1] * (2 * n)
        place[d], place[n + d] = at.shape
        position = position * m + at.reshape(place)
    steps = [position.size(n + d) for d in range(n)]
    chosen = _cells_first(windows, cells, steps).flatten(-n).argmax(-1)
    found = position.flatten(-n).expand(*chosen.shape, -1).gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
    return input.flatten(-n).gather(-1, found.flatten(-n)).reshape(found.shape), found


def _cells_first(windows: Tensor, cells: Sequence[int], steps: Sequence[int]) -> Tensor:
    """(..., cells[0] * steps[0], cells[1] * steps[1], ...) as (..., *cells, *steps)."""
    n = len(cells)
    for d in range(n - 1, -1, -1):
        windows = windows.unflatten(d - n - (n - 1 - d), (cells[d], steps[d]))
    front = windows.ndim - 2 * n
    return windows.permute(*range(front), *range(front, front + 2 * n, 2), *range(front + 1, front + 2 * n, 2))


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of each of `output_size` parts of a line.

    Example::

        >>> ad.nn.functional.adaptive_max_pool1d(ad.tensor([[1.0, 5.0, 2.0, 3.0]]), 2)
        tensor([[5., 3.]])
    """
    pair = _adaptive_max(input, per_dimension(output_size, 1), 1)
    return pair if return_indices else pair[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of each cell of a grid of `output_size` over a volume; None keeps a size.

    Example::

        >>> ad.nn.functional.adaptive_max_pool3d(ad.arange(8.0).reshape(1, 2, 2, 2), (1, 1, 2))
        tensor([[[[6., 7.]]]])
    """
    pair = _adaptive_max(input, [None] * 3 if output_size is None else per_dimension(output_size, 3), 3)
    return pair if return_indices else pair[0]


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of each cell of a grid of `output_size`; None keeps a size.

    Example::

        >>> ad.nn.functional.adaptive_max_pool2d(ad.arange(12.0).reshape(1, 3, 4), (1, 2))
        tensor([[[ 9., 11.]]])
    """
    pair = _adaptive_max(input, [None] * 2 if output_size is None else per_dimension(output_size, 2), 2)
    return pair if return_indices else pair[0]


def _with_indices(pool: Any) -> Any:
    """`adaptive_max_pool2d` and its kin, which give the indices too."""

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
        return pool(input, output_size, True)

    with_indices.__name__ = with_indices.__qualname__ = f"{pool.__name__}_with_indices"
    with_indices.__doc__ = f"`{pool.__name__}`, with the indices of the maxima."
    return with_indices


adaptive_max_pool1d_with_indices = _with_indices(adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(adaptive_max_pool3d)
