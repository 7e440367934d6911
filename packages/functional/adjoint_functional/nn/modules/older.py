"""Layers under names that PyTorch keeps for older programs."""

from __future__ import annotations

import warnings
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor

from .. import functional as F
from .generated import Upsample
from .module import Module

__all__ = ["Container", "CrossMapLRN2d", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class UpsamplingNearest2d(Upsample):
    """`Upsample` by the nearest pixel.

    Example::

        >>> ad.nn.UpsamplingNearest2d(scale_factor=2)(ad.ones(1, 1, 2, 2)).shape
        adjoint.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` by linear interpolation, with corners on corners.

    Example::

        >>> ad.nn.UpsamplingBilinear2d(scale_factor=2)(ad.ones(1, 1, 2, 2)).shape
        adjoint.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class Container(Module):
    """Modules by name: `ModuleDict` is what is used today."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class CrossMapLRN2d(Module):
    """Divides by a power of the sum of squares over channels around, as an older program's `LocalResponseNorm`: of an even size it takes one
    channel less.

    Example::

        >>> ad.nn.CrossMapLRN2d(3)(ad.ones(1, 4, 2, 2)).shape
        adjoint.Size([1, 4, 2, 2])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W), to the same shape."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size - 1) // 2
        squares = F.pad(input * input, (0, 0, 0, 0, reach, reach)).unfold(1, 2 * reach + 1, 1).sum(-1)
        return input * core.pow(squares * (self.alpha / self.size) + self.k, -self.beta)

    def extra_repr(self) -> str:
        """The size and the numbers."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
