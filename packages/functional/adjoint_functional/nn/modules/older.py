"""Layers under names that PyTorch keeps for older programs."""

from __future__ import annotations

from typing import Any

from .generated import NLLLoss, Upsample

__all__ = ["NLLLoss2d", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, which takes images too."""


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
