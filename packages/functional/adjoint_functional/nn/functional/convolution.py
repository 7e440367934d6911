"""Convolutions and their transposes."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._warnings import warn_once

from .window_sizes import Ints, per_dimension


def _conv(
    n: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints | str, dilation: Ints, groups: int
) -> Tensor:
    stride, dilation = per_dimension(stride, n), per_dimension(dilation, n)
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
            warn_once(
                "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be created"
            )
            x = _core._pad(x, [0] * x.ndim, [0, 0] + [t % 2 for t in total], 0.0)
        amount = before
    else:
        amount = [0] * n if padding == "valid" else per_dimension(padding, n)  # type: ignore[arg-type]
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
    stride, padding, output_padding, dilation = (per_dimension(v, n) for v in (stride, padding, output_padding, dilation))
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
