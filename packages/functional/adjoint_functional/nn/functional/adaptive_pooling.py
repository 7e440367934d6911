"""Pooling to a size that is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once

from .window_sizes import Ints, per_dimension


def _adaptive(x: Tensor, dim: int, size: int) -> Tensor:
    n = x.size(dim)
    if n == 0 or not 0 <= size < 2**31:
        raise RuntimeError(
            f"adaptive_avg_pool: expected a dimension that is not empty and an output size that fits 32 bits, got {n} and {size}"
        )
    if size and n % size == 0:
        return x.unflatten(dim, (size, n // size)).mean(dim)
    pieces = [
        x.narrow(dim, i * n // size, -(-(i + 1) * n // size) - i * n // size).mean(dim, keepdim=True) for i in range(size)
    ]
    return _core.cat(pieces, dim)


def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """Means over `output_size` nearly equal windows of the last dimension.

    Example::

        >>> ad.nn.functional.adaptive_avg_pool1d(ad.tensor([[1., 3., 2., 4.]]), 2)
        tensor([[2., 3.]])
    """
    sizes = per_dimension(output_size, 1)
    if len(sizes) != 1:
        raise RuntimeError(f"adaptive_avg_pool1d: output_size should contain one int, got {len(sizes)}")
    return _adaptive(input, -1, sizes[0])


@rounded_once
def adaptive_mean(input: Tensor, output_size: int | Sequence[int | None], n: int) -> Tensor:
    sizes = [output_size] * n if isinstance(output_size, int) else list(output_size)
    if len(sizes) != n:
        raise RuntimeError(f"adaptive_avg_pool{n}d: output_size must be {n}, got {len(sizes)} sizes")
    if input.ndim not in (n + 1, n + 2):
        raise ValueError(f"adaptive_avg_pool{n}d: Input dimension should be {n + 1} or {n + 2}, got {input.ndim}")
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
    """Means over nearly equal windows of the last three dimensions; None keeps a size."""
    return adaptive_mean(input, output_size, 3)


def _adaptive_max(input: Tensor, sizes: Sequence[int | None], n: int) -> tuple[Tensor, Tensor]:
    """The maximum of each cell of a grid over the last n dimensions, with its position in them."""
    if len(sizes) != n:
        raise RuntimeError(f"adaptive_max_pool{n}d: output_size must be {n} sizes, got {len(sizes)}")
    if input.ndim not in (n + 1, n + 2):
        raise ValueError(f"adaptive_max_pool{n}d: Input dimension should be {n + 1} or {n + 2}, got {input.ndim}")
    shape = input.shape[-n:]
    cells = [m if s is None else s for s, m in zip(sizes, shape)]
    values, at = [], []
    for flat in _core.arange(math.prod(cells)).tolist():
        x, offset, steps = input, 0, []
        for d, (out, m) in enumerate(zip(cells, shape)):
            i = flat // math.prod(cells[d + 1 :]) % out
            start, end = i * m // out, -(-(i + 1) * m // out)
            x = x.narrow(d - n, start, end - start)
            offset = offset * m + start
            steps.append(end - start)
        value, where = x.flatten(-n).max(-1)
        position = _core.zeros_like(where)
        for d, m in enumerate(shape):
            position = position * m + where // math.prod(steps[d + 1 :]) % steps[d]
        values.append(value)
        at.append(position + offset)
    full = [*input.shape[:-n], *cells]
    return _core.stack(values, -1).reshape(full), _core.stack(at, -1).reshape(full)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of each of `output_size` parts of a line."""
    pair = _adaptive_max(input, per_dimension(output_size, 1), 1)
    return pair if return_indices else pair[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of each cell of a grid of `output_size` over a volume; None keeps a size."""
    pair = _adaptive_max(input, [None] * 3 if output_size is None else per_dimension(output_size, 3), 3)
    return pair if return_indices else pair[0]


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of each cell of a grid of `output_size`; None keeps a size."""
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
