"""Softmax over many classes of unequal frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor

from .. import functional as F
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the loss, their negative mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Softmax over classes in the order of their frequency (E. Grave and others, Efficient softmax approximation for GPUs, 2017).

    The first ``cutoffs[0]`` classes have outputs of their own; the others are in clusters, each with a smaller matrix.

    Arguments:
        in_features: of an input.
        n_classes: how many classes.
        cutoffs: growing numbers of classes at which clusters begin.
        div_value: by which each cluster has fewer features than the one before.
        head_bias: the first matrix adds a bias.

    Raises:
        ValueError: cutoffs that do not grow, or lie outside of the classes.

    Example::

        >>> softmax = ad.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[5, 10])
        >>> softmax.log_prob(ad.zeros(2, 8)).exp().sum(1)
        tensor([1.0000, 1.0000], grad_fn=<SumBackward1>)
        >>> softmax(ad.zeros(2, 8), ad.tensor([3, 12])).output.shape
        adjoint.Size([2])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        grows = cutoffs == sorted(cutoffs) and len(set(cutoffs)) == len(cutoffs)
        if not grows or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 "
                f"and n_classes-1, got {cutoffs}"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            hidden = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **options), Linear(hidden, high - low, bias=False, **options)
                )
            )

    def reset_parameters(self) -> None:
        """Draws new values."""
        for layer in (self.head, *(linear for cluster in self.tail for linear in cluster)):
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """(N, in) and N classes, or (in,) and one, to the log-probabilities of these classes and the loss.

        Raises:
            RuntimeError: shapes that do not fit, or a target that is no class.
        """
        alone = target_.dim() == 0
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input_.dim() != (1 if alone else 2) or (not alone and input_.size(0) != target_.size(0)):
            raise RuntimeError(
                f"an input of {1 if alone else 2}D is expected for this target, of as many rows, got {input_.shape}"
            )
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if alone else (input_, target_)
        if target.numel() and not bool(((target >= 0) & (target < self.n_classes)).all()):
            low, high = int(target.min()), int(target.max())
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] were found. "
            )
        head = F.log_softmax(self.head(x), dim=1)
        cluster = sum((target >= c).to(core.int64) for c in self.cutoffs[:-1])
        first = core.where(cluster > 0, self.shortlist_size + cluster - 1, target)
        output = head.gather(1, first.unsqueeze(1)).squeeze(1)
        for i, tail in enumerate(self.tail):
            rows = (cluster == i + 1).nonzero().squeeze(1)
            if rows.numel():
                local = F.log_softmax(tail(x.index_select(0, rows)), dim=1)
                inside = (target.index_select(0, rows) - self.cutoffs[i]).unsqueeze(1)
                output = output.index_add(0, rows, local.gather(1, inside).squeeze(1))
        return _ASMoutput(output.squeeze(0) if alone else output, (-output).mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """(N, in) to the log-probabilities of all classes, (N, classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), dim=1) + head[:, self.shortlist_size + i, None])
        return core.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """(N, in) to the most probable class of each."""
        return self.log_prob(input).argmax(1)
