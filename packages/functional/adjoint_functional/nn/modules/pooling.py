"""Pooling over windows: functions of `nn.functional` as modules."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor

from .. import functional as F
from .from_function import _FromFunction, layer
from .module import Module
from .utils import _ntuple, _single


class _MaxPoolNd(_FromFunction):
    def _settle(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride

    def extra_repr(self) -> str:
        return self._shown("kernel_size", "stride", "padding", "dilation", "ceil_mode")


class _AvgPoolNd(_FromFunction):
    def _settle(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride

    def extra_repr(self) -> str:
        return self._shown("kernel_size", "stride", "padding")


class _AvgPool1d(_AvgPoolNd):
    def _settle(self) -> None:
        super()._settle()
        self.kernel_size, self.stride, self.padding = map(_single, (self.kernel_size, self.stride, self.padding))


class _LPPoolNd(_FromFunction):
    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class _AdaptiveAvgPoolNd(_FromFunction):
    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPoolNd(_AdaptiveAvgPoolNd):
    pass


_MAX, _AVG = (
    "kernel_size stride padding dilation return_indices ceil_mode",
    "kernel_size stride padding ceil_mode count_include_pad",
)
AdaptiveAvgPool1d = layer("AdaptiveAvgPool1d", F.adaptive_avg_pool1d, "output_size", _AdaptiveAvgPoolNd)
AdaptiveAvgPool2d = layer("AdaptiveAvgPool2d", F.adaptive_avg_pool2d, "output_size", _AdaptiveAvgPoolNd)
AdaptiveAvgPool3d = layer("AdaptiveAvgPool3d", F.adaptive_avg_pool3d, "output_size", _AdaptiveAvgPoolNd)
AdaptiveMaxPool1d = layer("AdaptiveMaxPool1d", F.adaptive_max_pool1d, "output_size return_indices", _AdaptiveMaxPoolNd)
AdaptiveMaxPool2d = layer("AdaptiveMaxPool2d", F.adaptive_max_pool2d, "output_size return_indices", _AdaptiveMaxPoolNd)
AdaptiveMaxPool3d = layer("AdaptiveMaxPool3d", F.adaptive_max_pool3d, "output_size return_indices", _AdaptiveMaxPoolNd)
AvgPool1d = layer("AvgPool1d", F.avg_pool1d, _AVG, _AvgPool1d)
AvgPool2d = layer("AvgPool2d", F.avg_pool2d, _AVG + " divisor_override", _AvgPoolNd)
AvgPool3d = layer("AvgPool3d", F.avg_pool3d, _AVG + " divisor_override", _AvgPoolNd)
LPPool1d = layer("LPPool1d", F.lp_pool1d, "norm_type kernel_size stride ceil_mode", _LPPoolNd)
LPPool3d = layer("LPPool3d", F.lp_pool3d, "norm_type kernel_size stride ceil_mode", _LPPoolNd)
LPPool2d = layer("LPPool2d", F.lp_pool2d, "norm_type kernel_size stride ceil_mode", _LPPoolNd)
MaxPool1d = layer("MaxPool1d", F.max_pool1d, _MAX, _MaxPoolNd)
MaxPool2d = layer("MaxPool2d", F.max_pool2d, _MAX, _MaxPoolNd)
MaxPool3d = layer("MaxPool3d", F.max_pool3d, _MAX, _MaxPoolNd)


class _MaxUnpoolNd(Module):
    """Undoes a pooling whose indices are given."""

    _n: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        parse = _ntuple(self._n)
        self.kernel_size, self.padding = parse(kernel_size), parse(padding)
        self.stride = parse(kernel_size if stride is None else stride)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """(N, C, ...) or (C, ...), the values at the indices and zeros elsewhere; ``output_size`` chooses among the sizes that fit."""
        unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[self._n - 1]
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """`nn.functional.max_unpool1d` as a module.

    Example::

        >>> ad.nn.MaxUnpool1d(2)(ad.tensor([[[3.0]]]), ad.tensor([[[1]]]))
        tensor([[[0., 3.]]])
    """

    _n = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """`nn.functional.max_unpool2d` as a module.

    Example::

        >>> pool = ad.nn.MaxPool2d(2, return_indices=True)
        >>> ad.nn.MaxUnpool2d(2)(*pool(ad.ones(1, 4, 4))).shape
        adjoint.Size([1, 4, 4])
    """

    _n = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """`nn.functional.max_unpool3d` as a module.

    Example::

        >>> pool = ad.nn.MaxPool3d(2, return_indices=True)
        >>> ad.nn.MaxUnpool3d(2)(*pool(ad.ones(1, 4, 4, 4))).shape
        adjoint.Size([1, 4, 4, 4])
    """

    _n = 3


class _FractionalMaxPoolNd(Module):
    """Windows at random places, so that there are as many as are wanted."""

    _n: int
    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        parse, name = _ntuple(self._n), type(self).__name__
        self.kernel_size, self.return_indices = parse(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else parse(output_size)
        self.output_ratio = None if output_ratio is None else parse(output_ratio)
        if (output_size is None) is (output_ratio is None):
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio, and not both")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """(N, C, ...) or (C, ...); with the indices of the maxima if ``return_indices``."""
        pool = (F.fractional_max_pool2d, F.fractional_max_pool3d)[self._n - 2]
        return pool(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """`nn.functional.fractional_max_pool2d` as a module.

    Example::

        >>> ad.nn.FractionalMaxPool2d(2, output_ratio=0.5)(ad.ones(1, 1, 6, 6)).shape
        adjoint.Size([1, 1, 3, 3])
    """

    _n = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """`nn.functional.fractional_max_pool3d` as a module.

    Example::

        >>> ad.nn.FractionalMaxPool3d(2, output_size=2)(ad.ones(1, 4, 4, 4)).shape
        adjoint.Size([1, 2, 2, 2])
    """

    _n = 3


__all__ = [
    name for name, value in globals().items() if name[0] != "_" and isinstance(value, type) and value.__module__ == __name__
]
