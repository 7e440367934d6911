"""Convolutions and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor
from adjoint_core._whole import is_whole

from .. import functional as F
from .. import init
from .linear import parameter
from .module import Module
from .utils import _reverse_repeat_tuple

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

Sizes = int | tuple[int, ...]


def _tuple(given: Sizes, n: int) -> tuple[int, ...]:
    return (given,) * n if is_whole(given) else tuple(given)


class _ConvNd(Module):
    """What all have in common."""

    __constants__ = (
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    )

    _n: int
    _transposed = False
    output_padding: tuple[int, ...]

    def _make(
        self, channels: tuple[int, int], kernel_size: Sizes, stride: Sizes, padding: Sizes | str, dilation: Sizes, groups: int,
        bias: bool, padding_mode: str, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        n = self._n
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for c, what in zip(channels, ("in_channels", "out_channels")):
            if c % groups:
                raise ValueError(f"{what} must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same' and 'valid'")
            if padding == "same" and any(s != 1 for s in _tuple(stride, n)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"{type(self).__name__}: padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', got {padding_mode!r}"
            )
        self.in_channels, self.out_channels = channels
        self.kernel_size, self.stride, self.dilation = _tuple(kernel_size, n), _tuple(stride, n), _tuple(dilation, n)
        self.padding = padding if isinstance(padding, str) else _tuple(padding, n)
        self.groups, self.padding_mode = groups, padding_mode
        self.transposed = self._transposed
        if not self.transposed:
            self.output_padding = (0,) * n
        if isinstance(self.padding, str):
            total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
            self._reversed_padding_repeated_twice: Any = [side for t in reversed(total) for side in (t // 2, t - t // 2)]
        else:
            self._reversed_padding_repeated_twice = _reverse_repeat_tuple(self.padding, 2)
        first, second = channels if self._transposed else channels[::-1]
        self.weight = parameter(first, second // groups, *self.kernel_size, device=device, dtype=dtype)
        self.register_parameter("bias", parameter(channels[1], device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values, uniform in ±1/sqrt(the number of products in one output)."""
        init.uniform_by_fan_in(self)

    def extra_repr(self) -> str:
        """The sizes, and what is not as by default."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        ones, zeros = (1,) * self._n, (0,) * self._n
        usual = {"padding": zeros, "dilation": ones, "output_padding": zeros, "groups": 1}
        text += "".join(f", {k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k, v) != v)
        text += "" if self.bias is not None else ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


class _Forward(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._make(
            (in_channels, out_channels), kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )

    def forward(self, input: Tensor) -> Tensor:
        """(N, in, ...) or (in, ...) to (N, out, ...) or (out, ...)."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """With another weight and bias: subclasses call it."""
        conv = (F.conv1d, F.conv2d, F.conv3d)[self._n - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode), 0
        return conv(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class _ConvTransposeNd(_ConvNd):
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.output_padding = _tuple(output_padding, self._n)
        self._make(
            (in_channels, out_channels), kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """(N, in, ...) or (in, ...) to (N, out, ...) or (out, ...); ``output_size`` chooses among the sizes that fit."""
        conv = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self._n - 1]
        more = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, self._n, self.dilation)
        return conv(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)

    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> tuple[int, ...]:
        """What is added to the smallest size that fits, for the result to have ``output_size``; the layer's own where that is None."""
        n = num_spatial_dims
        if output_size is None:
            return _tuple(self.output_padding, n)
        if not isinstance(output_size, (tuple, list)):
            raise TypeError(
                f"ConvTranspose{n}d: output_size must be a tuple or a list of {n} ints, got {type(output_size).__name__}"
            )
        if len(output_size) not in (n, input.dim()):
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {input.dim()} elements (got {len(output_size)})"
            )
        wanted = tuple(output_size)[-n:]
        per_dim = zip(input.shape[-n:], stride, padding, dilation or (1,) * n, kernel_size)
        least = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in per_dim]
        more = tuple(w - m for w, m in zip(wanted, least))
        if any(not 0 <= extra < s for extra, s in zip(more, stride)):
            most = [m + s - 1 for m, s in zip(least, stride)]
            raise ValueError(
                f"requested an output size of {list(output_size)}, but valid sizes range from {least} to {most} (for an input of {input.shape[-n:]})"
            )
        return more


class Conv1d(_Forward):
    """Convolution over one dimension; ``weight`` is (out, in / groups, kernel).

    Example::

        >>> ad.nn.Conv1d(2, 4, 3)(ad.ones(1, 2, 10)).shape
        adjoint.Size([1, 4, 8])
    """

    _n = 1


class Conv2d(_Forward):
    """Convolution over two dimensions; ``weight`` is (out, in / groups, height, width).

    Example::

        >>> ad.nn.Conv2d(1, 4, 3, padding="same")(ad.ones(1, 1, 5, 5)).shape
        adjoint.Size([1, 4, 5, 5])
    """

    _n = 2


class Conv3d(_Forward):
    """Convolution over three dimensions.

    Example::

        >>> ad.nn.Conv3d(1, 2, 2, stride=2)(ad.ones(1, 1, 4, 4, 4)).shape
        adjoint.Size([1, 2, 2, 2, 2])
    """

    _n = 3


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of a convolution over one dimension; ``weight`` is (in, out / groups, kernel).

    Example::

        >>> ad.nn.ConvTranspose1d(4, 2, 3)(ad.ones(1, 4, 8)).shape
        adjoint.Size([1, 2, 10])
    """

    _n = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of a convolution over two dimensions.

    Example::

        >>> ad.nn.ConvTranspose2d(4, 2, 2, stride=2)(ad.ones(1, 4, 3, 3)).shape
        adjoint.Size([1, 2, 6, 6])
    """

    _n = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of a convolution over three dimensions.

    Example::

        >>> ad.nn.ConvTranspose3d(1, 1, 2)(ad.ones(1, 1, 2, 2, 2)).shape
        adjoint.Size([1, 1, 3, 3, 3])
    """

    _n = 3
