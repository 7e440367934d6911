"""Convolutions and pooling of `nn.functional`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core

Ints = int | Sequence[int]


def _tuple(v: Ints, n: int) -> list[int]:
    return [v] * n if isinstance(v, int) else list(v) * (n if len(v) == 1 else 1)


def _conv(
    n: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints | str, dilation: Ints, groups: int
) -> Tensor:
    stride, dilation = _tuple(stride, n), _tuple(dilation, n)
    batched = x.ndim == n + 2
    if not batched and x.ndim != n + 1:
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{n}d, but got input of size: {list(x.shape)}"
        )
    if weight.ndim != n + 2:
        raise RuntimeError(f"conv{n}d: Expected {n + 2}-dimensional weight, but got weight of size {list(weight.shape)}")
    if not batched:
        x = x.unsqueeze(0)
    if padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
        before = [t // 2 for t in total]
        if any(t % 2 for t in total):
            x = _core._pad(x, [0] * x.ndim, [0, 0] + [t % 2 for t in total], 0.0)
        amount = before
    else:
        amount = [0] * n if padding == "valid" else _tuple(padding, n)  # type: ignore[arg-type]
    y = _core._conv(x, weight, bias, stride, amount, dilation, groups)
    return y if batched else y.squeeze(0)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (n, c, length) with weight (out, c / groups, k).

    Example::

        >>> ad.nn.functional.conv1d(ad.ones(1, 1, 3), ad.ones(2, 1, 2)).shape
        adjoint.Size([1, 2, 2])
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (n, c, h, w) with weight (out, c / groups, kh, kw).

    Example::

        >>> ad.nn.functional.conv2d(ad.ones(1, 1, 3, 3), ad.ones(2, 1, 2, 2)).shape
        adjoint.Size([1, 2, 2, 2])
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (n, c, d, h, w) with weight (out, c / groups, kd, kh, kw).

    Example::

        >>> ad.nn.functional.conv3d(ad.ones(1, 1, 3, 3, 3), ad.ones(2, 1, 2, 2, 2)).shape
        adjoint.Size([1, 2, 2, 2, 2])
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(
    n: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    groups: int,
    dilation: Ints,
) -> Tensor:
    stride, padding, output_padding, dilation = (_tuple(v, n) for v in (stride, padding, output_padding, dilation))
    return _core._conv_transpose(x, weight, bias, stride, padding, output_padding, dilation, groups)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """The transpose of conv1d: (n, c, length) with weight (c, out / groups, k).

    Example::

        >>> ad.nn.functional.conv_transpose1d(ad.ones(1, 1, 3), ad.ones(1, 2, 2)).shape
        adjoint.Size([1, 2, 4])
    """
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """The transpose of conv2d: (n, c, h, w) with weight (c, out / groups, kh, kw).

    Example::

        >>> ad.nn.functional.conv_transpose2d(ad.ones(1, 1, 3, 3), ad.ones(1, 2, 2, 2)).shape
        adjoint.Size([1, 2, 4, 4])
    """
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """The transpose of conv3d: (n, c, d, h, w) with weight (c, out / groups, kd, kh, kw).

    Example::

        >>> ad.nn.functional.conv_transpose3d(ad.ones(1, 1, 3, 3, 3), ad.ones(1, 2, 2, 2, 2)).shape
        adjoint.Size([1, 2, 4, 4, 4])
    """
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _pool(n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, call: Any) -> Any:
    size = _tuple(kernel, n)
    step = size if stride is None or (not isinstance(stride, int) and len(stride) == 0) else _tuple(stride, n)
    batched = x.ndim == n + 2
    result = call(x if batched else x.unsqueeze(0), size, step, _tuple(padding, n))
    if batched:
        return result
    return tuple(r.squeeze(0) for r in result) if isinstance(result, tuple) else result.squeeze(0)


def _max_pool(
    n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil_mode: bool, return_indices: bool
) -> Any:
    def call(x: Tensor, size: list[int], step: list[int], pad: list[int]) -> Any:
        return _core._max_pool(x, size, step, pad, _tuple(dilation, n), ceil_mode)

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


def _adaptive(x: Tensor, dim: int, size: int) -> Tensor:
    n = x.size(dim)
    if n == 0 or not 0 <= size < 2**31:
        raise RuntimeError(
            f"adaptive_avg_pool: expected a dimension that is not empty and an output size that fits 32 bits, got {n} and {size}"
        )
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
    sizes = _tuple(output_size, 1)
    if len(sizes) != 1:
        raise RuntimeError(f"adaptive_avg_pool1d: output_size should contain one int, got {len(sizes)}")
    return _adaptive(input, -1, sizes[0])


def _adaptive_last(input: Tensor, output_size: int | Sequence[int | None], n: int) -> Tensor:
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
    return _adaptive_last(input, output_size, 2)


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Means over nearly equal windows of the last three dimensions; None keeps a size."""
    return _adaptive_last(input, output_size, 3)
