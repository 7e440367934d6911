"""What undoes max pooling, and adaptive pools of volumes, for `nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import node

from .window_sizes import per_dimension


def _unpool(
    n: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Sequence[int] | None
) -> Tensor:
    name = f"max_unpool{n}d"
    if input.shape != indices.shape:
        raise RuntimeError(
            f"{name}: expected input and indices to be of the same shape, got {list(input.shape)} and {list(indices.shape)}"
        )
    kernel = per_dimension(kernel_size, n)
    step, pad = kernel if stride is None else per_dimension(stride, n), per_dimension(padding, n)
    usual = [(m - 1) * s - 2 * p + k for m, s, p, k in zip(input.shape[-n:], step, pad, kernel)]
    sizes = usual if output_size is None else list(output_size)[-n:]
    for size, default, s in zip(sizes, usual, step):
        if not default - s < size < default + s and output_size is not None:
            raise ValueError(f"{name}: invalid output_size {sizes}: each must be within a stride of {usual}")
    total, lead = math.prod(sizes), input.shape[:-n]
    flat = _core.zeros((), dtype=input.dtype, device=input.device).expand(*lead, total)
    try:
        if input.is_cuda:  # whose kernels leave out what lies outside
            _check(name, indices, total, sizes)
        return flat.scatter(-1, indices.flatten(-n), input.flatten(-n)).reshape(*lead, *sizes)
    except IndexError:
        _check(name, indices, total, sizes)
        raise


def _check(name: str, indices: Tensor, total: int, sizes: Sequence[int]) -> None:
    outside = _core._all_lanes((indices < 0) | (indices >= total))
    if bool(outside.any()):
        found = int(_core._all_lanes(indices)[outside][0])
        raise RuntimeError(f"{name}: Found an invalid max index: {found} (output volumes are of size {sizes})")


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The maxima of `max_pool1d` back at their positions, zero elsewhere.

    Example::

        >>> values, at = ad.nn.functional.max_pool1d(ad.tensor([[1., 3., 2., 4.]]), 2, return_indices=True)
        >>> ad.nn.functional.max_unpool1d(values, at, 2)
        tensor([[0., 3., 0., 4.]])
    """
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


@node("MaxUnpool2DBackward0")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The maxima of `max_pool2d` back at their positions, zero elsewhere.

    Example::

        >>> y, at = ad.nn.functional.max_pool2d(ad.arange(4.0).reshape(1, 2, 2), 2, return_indices=True)
        >>> ad.nn.functional.max_unpool2d(y, at, 2)
        tensor([[[0., 0.],
                 [0., 3.]]])
    """
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


@node("MaxUnpool3DBackward0")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The maxima of `max_pool3d` back at their positions, zero elsewhere.

    Example::

        >>> y, at = ad.nn.functional.max_pool3d(ad.arange(8.0).reshape(1, 2, 2, 2), 2, return_indices=True)
        >>> ad.nn.functional.max_unpool3d(y, at, 2).sum()
        tensor(7.)
    """
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)
