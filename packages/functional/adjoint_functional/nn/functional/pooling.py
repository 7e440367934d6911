"""Pooling over windows: extremes, means, norms."""

from __future__ import annotations

import math
from typing import Any

from adjoint_core import ShapeError, Tensor, _core
from adjoint_core._compose import rounded_once
from adjoint_core._whole import is_whole

from .window_sizes import Ints, per_dimension


def _pool(n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, call: Any) -> Any:
    if x.ndim not in (n + 1, n + 2):
        raise ShapeError(f"pool: Expected {n + 1}D or {n + 2}D (batch mode) tensor, but got one of shape {list(x.shape)}")
    size = per_dimension(kernel, n)
    step = size if stride is None or (not is_whole(stride) and len(stride) == 0) else per_dimension(stride, n)
    batched = x.ndim == n + 2
    result = call(x if batched else x.unsqueeze(0), size, step, per_dimension(padding, n))
    if batched:
        return result
    return tuple(r.squeeze(0) for r in result) if isinstance(result, tuple) else result.squeeze(0)


def _max_pool(
    n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil_mode: bool, return_indices: bool
) -> Any:
    def call(x: Tensor, size: list[int], step: list[int], pad: list[int]) -> Any:
        return _core._max_pool(x, size, step, pad, per_dimension(dilation, n), ceil_mode)

    values, indices = _pool(n, x, kernel, stride, padding, call)
    return (values, indices) if return_indices else values


def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of (n, c, length).

    Example::

        >>> ad.nn.functional.max_pool1d(ad.tensor([[1., 3., 2., 4.]]), 2)
        tensor([[3., 4.]])
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of (n, c, h, w).

    Example::

        >>> ad.nn.functional.max_pool2d(ad.ones(1, 1, 4, 4), 2).shape
        adjoint.Size([1, 1, 2, 2])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of (n, c, d, h, w).

    Example::

        >>> ad.nn.functional.max_pool3d(ad.ones(1, 1, 4, 4, 4), 2).shape
        adjoint.Size([1, 1, 2, 2, 2])
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg_pool(
    n: int,
    x: Tensor,
    kernel: Ints,
    stride: Ints | None,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None = None,
) -> Tensor:
    def call(x: Tensor, size: list[int], step: list[int], pad: list[int]) -> Tensor:
        return _core._avg_pool(x, size, step, pad, ceil_mode, count_include_pad, divisor)

    return _pool(n, x, kernel, stride, padding, call)


def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of (n, c, length).

    Example::

        >>> ad.nn.functional.avg_pool1d(ad.tensor([[1., 3., 2., 4.]]), 2)
        tensor([[2., 3.]])
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of (n, c, h, w).

    Example::

        >>> ad.nn.functional.avg_pool2d(ad.ones(1, 1, 4, 4), 2).shape
        adjoint.Size([1, 1, 2, 2])
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of (n, c, d, h, w).

    Example::

        >>> ad.nn.functional.avg_pool3d(ad.ones(1, 1, 4, 4, 4), 2).shape
        adjoint.Size([1, 1, 2, 2, 2])
    """
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@rounded_once
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum x**p)**(1/p) over windows of a line.

    Example::

        >>> ad.nn.functional.lp_pool1d(ad.tensor([[3.0, 4.0, 0.0, 1.0]]), 2, 2)
        tensor([[5., 1.]])
    """
    y = avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (y.sign() * y.abs().relu() * kernel_size).pow(1 / norm_type)


@rounded_once
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Ints, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum x**p)**(1/p) over windows of an image.

    Example::

        >>> ad.nn.functional.lp_pool2d(ad.tensor([[[3.0, 0.0], [0.0, 4.0]]]), 2, 2)
        tensor([[[5.]]])
    """
    y = avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (y.sign() * y.abs().relu() * math.prod(per_dimension(kernel_size, 2))).pow(1 / norm_type)


@rounded_once
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Ints, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum x**p)**(1/p) over windows of a volume.

    Example::

        >>> ad.nn.functional.lp_pool3d(ad.ones(1, 2, 2, 2), 1, 2)
        tensor([[[[8.]]]])
    """
    y = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (y.sign() * y.abs().relu() * math.prod(per_dimension(kernel_size, 3))).pow(1 / norm_type)


def _with_indices(pool: Any) -> Any:
    """`max_pool2d` and its kin, which give the indices too."""

    def with_indices(
        input: Tensor,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    with_indices.__name__ = with_indices.__qualname__ = f"{pool.__name__}_with_indices"
    with_indices.__doc__ = f"`{pool.__name__}`, with the indices of the maxima."
    return with_indices


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _with_indices, (max_pool1d, max_pool2d, max_pool3d)
)
