"""Losses of classes and of truth values."""

from __future__ import annotations

from adjoint_core import ShapeError, Tensor, _core
from adjoint_core._compose import node, rounded_once
from adjoint_core._warnings import warn

from ..linear import linear
from .reduction import reduced, reduction_of


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of the target class; input is (n, classes, ...).

    Example::

        >>> ad.nn.functional.nll_loss(ad.tensor([[-0.5, -1.]]), ad.tensor([1]))
        tensor(1.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    return _core._nll_loss(input, target, weight, reduction, ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax; `target` holds class indices or probabilities.

    Example::

        >>> ad.nn.functional.cross_entropy(ad.tensor([[0., 0.]]), ad.tensor([1]))
        tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    return _core._cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """cross_entropy of the input (..., n) after a linear layer of weight (classes, ..., n).

    `options`, which divide the work there, are accepted: the result is the same.

    Example::

        >>> ad.nn.functional.linear_cross_entropy(ad.ones(1, 2), ad.zeros(2, 2), ad.tensor([1]))
        tensor(0.6931)
    """
    if linear_weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"linear_cross_entropy: K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"got unbatched input with shape {tuple(input.shape)}"
        )
    shape = linear_weight.shape[:-1]
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight.reshape(-1, linear_weight.size(-1)), bias).unflatten(-1, shape)
    skipped = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, None, skipped, None, reduction, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t log p + (1 - t) log(1 - p)) for probabilities p.

    Example::

        >>> ad.nn.functional.binary_cross_entropy(ad.tensor([0.5]), ad.tensor([1.]))
        tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    return _core._binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(x), without overflow.

    Example::

        >>> ad.nn.functional.binary_cross_entropy_with_logits(ad.tensor([0.]), ad.tensor([1.]))
        tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _core._binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


@rounded_once
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log(target) - input), for log-probabilities `input`.

    Example::

        >>> ad.nn.functional.kl_div(ad.tensor([0.5, 0.5]).log(), ad.tensor([0.25, 0.75]), reduction='sum')
        tensor(0.1308)
    """
    if size_average is reduce is None and reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch size, "
            "and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next major release."
        )
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == "batchmean" and input.ndim:
        return _core._kl_div(input, target, "sum", log_target) / input.size(0)
    return _core._kl_div(input, target, "sum" if reduction == "batchmean" else reduction, log_target)


@rounded_once
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * x)).

    Example::

        >>> ad.nn.functional.soft_margin_loss(ad.tensor([0.]), ad.tensor([1.]))
        tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if target.dtype != input.dtype and input.is_floating_point():
        target = target.to(input.dtype)
    if _core.broadcast_shapes(input.shape, target.shape) != input.shape:
        raise ShapeError(
            f"soft_margin_loss: target of shape {list(target.shape)} does not fit input of shape {list(input.shape)}"
        )
    return reduced(_core._softplus(-target * input, 1.0, 1e30), reduction)


def _expect_rows(name: str, input: Tensor) -> None:
    if input.ndim > 2:
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )


@node("MultiMarginLossBackward0")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of max(0, margin - x[target] + x)**p, without the target itself.

    Example::

        >>> ad.nn.functional.multi_margin_loss(ad.tensor([[0.25, 0.75]]), ad.tensor([0]))
        tensor(0.7500)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"multi_margin_loss: weight must be one-dimensional, got {weight.ndim} dimensions")
    _expect_rows("multi_margin_loss", input)
    _core._expect_type("multi_margin_loss", "weight", weight, "input", input)
    input = input if input.ndim else input.reshape(1)
    if weight is not None and weight.numel() != input.shape[-1]:
        raise RuntimeError(
            f"multi_margin_loss: inconsistent weight size, expected {input.shape[-1]} but got {list(weight.shape)}"
        )
    if reduction == "none" and input.ndim == 1 and target.numel() == 1:  # whose shape the loss has
        return _multi_margin_loss(input.unsqueeze(0), target.reshape(1), p, margin, weight, "none").reshape(target.shape)
    return _multi_margin_loss(input, target, p, margin, weight, reduction)


@rounded_once
def _multi_margin_loss(input: Tensor, target: Tensor, p: int, margin: float, weight: Tensor | None, reduction: str) -> Tensor:
    if p == 1:
        return _core._multi_margin_loss(input, target, margin, weight, reduction)
    at = target.reshape(input.shape[:-1]).unsqueeze(-1)
    terms = (margin - input.gather(-1, at) + input).clamp_min(0).square()
    if weight is not None:
        terms = terms * weight[at]
    terms = terms.masked_fill(_core.arange(input.size(-1), device=at.device) == at, 0.0)
    return reduced(terms.sum(-1) / input.size(-1), reduction)


@node("MultilabelMarginLossBackward0")
@rounded_once
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean over classes of max(0, 1 - x[j] + x[i]) for each target j and each class i that is none.

    The targets of a row stand in front; the first -1 ends them.

    Example::

        >>> ad.nn.functional.multilabel_margin_loss(ad.tensor([[0.25, 0.75]]), ad.tensor([[1, -1]]))
        tensor(0.2500)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _expect_rows("multilabel_margin_loss", input)
    if target.shape != input.shape:
        raise RuntimeError(
            f"multilabel_margin_loss: inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if not input.ndim:
        input, target = input.reshape(1), target.reshape(1)
    return reduced(_core._margin(input, target, 1.0, True), reduction)


@rounded_once
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the binary cross-entropy of logits.

    Example::

        >>> ad.nn.functional.multilabel_soft_margin_loss(ad.zeros(1, 2), ad.tensor([[1.0, 0.0]]))
        tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    loss = -(target * _core._logsigmoid(input) + (1 - target) * _core._logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return reduced(loss.sum(max(input.ndim - 1, 0)) / input.size(-1), reduction)
