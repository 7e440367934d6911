"""Losses: functions of `nn.functional` as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor
from adjoint_core._warnings import warn

from .. import functional as F
from ..functional.loss.reduction import reduction_of
from .from_function import _FromFunction, layer
from .generated import PairwiseDistance
from .module import Module


class _Loss(Module):
    """What all losses are: they have a ``reduction``."""

    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    """Losses with a weight for each class."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _OfElements(_FromFunction, _Loss):
    def extra_repr(self) -> str:
        return ""


class _OfClasses(_FromFunction, _WeightedLoss):
    def extra_repr(self) -> str:
        return ""


BCELoss = layer("BCELoss", F.binary_cross_entropy, "weight size_average reduce reduction", _OfClasses)
BCEWithLogitsLoss = layer(
    "BCEWithLogitsLoss",
    F.binary_cross_entropy_with_logits,
    "weight size_average reduce reduction pos_weight",
    _OfElements,
    unsaid=("reduction",),
)
CTCLoss = layer("CTCLoss", F.ctc_loss, "blank reduction zero_infinity", _OfElements, unsaid=("zero_infinity",))
CosineEmbeddingLoss = layer(
    "CosineEmbeddingLoss", F.cosine_embedding_loss, "margin size_average reduce reduction", _OfElements, margin=0.0
)
CrossEntropyLoss = layer(
    "CrossEntropyLoss", F.cross_entropy, "weight size_average ignore_index reduce reduction label_smoothing", _OfClasses
)
GaussianNLLLoss = layer("GaussianNLLLoss", F.gaussian_nll_loss, "full eps reduction", _OfElements)
HingeEmbeddingLoss = layer("HingeEmbeddingLoss", F.hinge_embedding_loss, "margin size_average reduce reduction", _OfElements)
HuberLoss = layer("HuberLoss", F.huber_loss, "reduction delta", _OfElements)
KLDivLoss = layer("KLDivLoss", F.kl_div, "size_average reduce reduction log_target", _OfElements, unsaid=("log_target",))
L1Loss = layer("L1Loss", F.l1_loss, "size_average reduce reduction", _OfElements)
MSELoss = layer("MSELoss", F.mse_loss, "size_average reduce reduction", _OfElements)
MarginRankingLoss = layer(
    "MarginRankingLoss", F.margin_ranking_loss, "margin size_average reduce reduction", _OfElements, margin=0.0
)
MultiLabelMarginLoss = layer("MultiLabelMarginLoss", F.multilabel_margin_loss, "size_average reduce reduction", _OfElements)
MultiLabelSoftMarginLoss = layer(
    "MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, "weight size_average reduce reduction", _OfClasses
)
MultiMarginLoss = layer("MultiMarginLoss", F.multi_margin_loss, "p margin weight size_average reduce reduction", _OfClasses)
NLLLoss = layer("NLLLoss", F.nll_loss, "weight size_average ignore_index reduce reduction", _OfClasses)
PoissonNLLLoss = layer("PoissonNLLLoss", F.poisson_nll_loss, "log_input full size_average eps reduce reduction", _OfElements)
SmoothL1Loss = layer("SmoothL1Loss", F.smooth_l1_loss, "size_average reduce reduction beta", _OfElements, unsaid=("beta",))
SoftMarginLoss = layer("SoftMarginLoss", F.soft_margin_loss, "size_average reduce reduction", _OfElements)


class _OfTriplets(_OfElements):
    """With a margin above 0."""

    def _settle(self) -> None:
        super()._settle()
        if self.margin <= 0:
            raise ValueError(f"{type(self).__name__}: expected margin to be greater than 0, got {self.margin} instead")


TripletMarginLoss = layer(
    "TripletMarginLoss", F.triplet_margin_loss, "margin p eps swap size_average reduce reduction", _OfTriplets, p=2.0
)


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, which takes images too: an older name, with a FutureWarning."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement.", FutureWarning)
        super().__init__(*args, **kwargs)


class TripletMarginWithDistanceLoss(_Loss):
    """`nn.functional.triplet_margin_with_distance_loss` as a module: max(0, d(a, p) - d(a, n) + margin) with a distance of one's own.

    Example::

        >>> loss = ad.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))
        >>> loss(ad.zeros(1, 2), ad.ones(1, 2), ad.ones(1, 2) * 2)
        tensor(0.)
    """

    __constants__ = ("margin", "swap", "reduction")

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead")
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """(N, ...) each."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


__all__ = [
    name for name, value in globals().items() if name[0] != "_" and isinstance(value, type) and value.__module__ == __name__
]
