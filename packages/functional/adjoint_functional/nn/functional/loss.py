"""Losses of `nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint_core import Tensor, _core


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """`reduction`, or what the two older arguments ask for."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def _reduce(x: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return x.mean()
    if reduction == "sum":
        return x.sum()
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return x


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
    reduction = _reduction(size_average, reduce, reduction)
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
    reduction = _reduction(size_average, reduce, reduction)
    return _core._cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing)


def _weighted(error: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """The weighted mean divides by the weights, not by their number."""
    weighted = weight * error
    return weighted.sum() / weight.expand(weighted.shape).sum() if reduction == "mean" else _reduce(weighted, reduction)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences.

    Example::

        >>> ad.nn.functional.mse_loss(ad.tensor([1., 4.]), ad.tensor([1., 1.]))
        tensor(4.5000)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if weight is None:
        return _core._mse_loss(input, target, reduction)
    return _weighted(_core._mse_loss(input, target, "none"), weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute differences.

    Example::

        >>> ad.nn.functional.l1_loss(ad.tensor([1., 4.]), ad.tensor([1., 1.]))
        tensor(1.5000)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if weight is None:
        return _core._l1_loss(input, target, reduction)
    return _weighted(_core._l1_loss(input, target, "none"), weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squared below `beta`, absolute above.

    Example::

        >>> ad.nn.functional.smooth_l1_loss(ad.tensor([1., 4.]), ad.tensor([1., 1.]))
        tensor(1.2500)
    """
    reduction = _reduction(size_average, reduce, reduction)
    return _core._smooth_l1_loss(input, target, reduction, beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Squared below `delta`, absolute above.

    Example::

        >>> ad.nn.functional.huber_loss(ad.tensor([1., 4.]), ad.tensor([1., 1.]))
        tensor(1.2500)
    """
    return _core._huber_loss(input, target, reduction, delta)


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
    reduction = _reduction(size_average, reduce, reduction)
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
    reduction = _reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _core._binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


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
    reduction = _reduction(size_average, reduce, reduction)
    if reduction == "batchmean":
        return _core._kl_div(input, target, "sum", log_target) / input.size(0)
    return _core._kl_div(input, target, reduction, log_target)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-likelihood of Poisson counts.

    Example::

        >>> ad.nn.functional.poisson_nll_loss(ad.tensor([0.]), ad.tensor([2.]))
        tensor(1.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + _core.where(target > 1, stirling, 0.0)
    return _reduce(loss, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the log-likelihood of normal values with variance `var`, which may lack the last dimension or have size 1 there.

    Example::

        >>> ad.nn.functional.gaussian_nll_loss(ad.tensor([1.]), ad.tensor([3.]), ad.tensor([1.]))
        tensor(2.)
    """
    var = _core.as_tensor(var)
    if var.ndim and var.shape != input.shape:
        differing = [n for m, n in zip(input.shape, var.shape) if m != n]
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif var.ndim != input.ndim or differing != [1]:
            raise ValueError(f"var is of incorrect size: {list(var.shape)} for an input of {list(input.shape)}")
    floor = (eps - var.data).clamp_min(0)  # lifts small variances without a derivative
    var = var + floor
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return _reduce(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x where target is 1, max(0, margin - x) where it is -1, and their sum elsewhere.

    Example::

        >>> ad.nn.functional.hinge_embedding_loss(ad.tensor([0.5, 0.25]), ad.tensor([1., -1.]))
        tensor(0.6250)
    """
    reduction = _reduction(size_average, reduce, reduction)
    loss = _core.where(target != -1, input, 0.0) + _core.where(target != 1, (margin - input).clamp_min(0), 0.0)
    return _reduce(loss, reduction)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (x1 - x2) + margin).

    Example::

        >>> ad.nn.functional.margin_ranking_loss(ad.tensor([1.]), ad.tensor([3.]), ad.tensor([1.]))
        tensor(2.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    return _reduce((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * x)).

    Example::

        >>> ad.nn.functional.soft_margin_loss(ad.tensor([0.]), ad.tensor([1.]))
        tensor(0.6931)
    """
    reduction = _reduction(size_average, reduce, reduction)
    return _reduce(_core._softplus(-target * input, 1.0, 1e30), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1.

    Example::

        >>> ad.nn.functional.cosine_embedding_loss(ad.tensor([[1., 0.]]), ad.tensor([[0., 1.]]), ad.tensor([1.]))
        tensor(1.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    eps = 1e-12
    cos = (input1 * input2).sum(-1) / ((input1.square().sum(-1) + eps) * (input2.square().sum(-1) + eps)).sqrt()
    loss = _core.where(target == 1, 1 - cos, 0.0) + _core.where(target == -1, (cos - margin).clamp_min(0), 0.0)
    return _reduce(loss, reduction)


def _expect_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: margin must be greater than 0, got {margin}")


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin).

    Example::

        >>> ad.nn.functional.triplet_margin_loss(ad.tensor([[0., 0.]]), ad.tensor([[0., 3.]]), ad.tensor([[4., 0.]]))
        tensor(0.)
    """
    reduction = _reduction(size_average, reduce, reduction)
    _expect_margin("triplet_margin_loss", margin)
    distance: Callable[[Tensor, Tensor], Tensor] = lambda a, b: (a - b + eps).norm(p, -1)  # noqa: E731
    far = distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return _reduce((distance(anchor, positive) - far + margin).clamp_min(0), reduction)


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
    """The mean over classes of max(0, margin - x[target] + x)**p, without the target itself."""
    reduction = _reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"multi_margin_loss: weight must be one-dimensional, got {weight.ndim} dimensions")
    x, y = (input.reshape(1, -1), target.reshape(1)) if input.ndim < 2 else (input, target)
    gap = (margin - x.gather(1, y.unsqueeze(1)) + x).clamp_min(0)
    terms = gap if p == 1 else gap * gap
    if weight is not None:
        terms = terms * weight[y].unsqueeze(1)
    terms = terms.masked_fill(_core.arange(x.size(1), device=y.device) == y.unsqueeze(1), 0.0)
    loss = terms.sum(1) / x.size(1)
    return _reduce(loss.squeeze(0) if input.ndim < 2 else loss, reduction)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean over classes of max(0, 1 - x[j] + x[i]) for each target j and each class i that is none.

    The targets of a row stand in front; the first -1 ends them.
    """
    reduction = _reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise RuntimeError(
            f"multilabel_margin_loss: inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    x, y = (input.reshape(1, -1), target.reshape(1, -1)) if input.ndim < 2 else (input, target)
    counts = (y >= 0).long().cumprod(1).bool()
    classes = y.clamp_min(0)
    taken = _core.zeros(x.shape, dtype=_core.int64).scatter_add(1, classes, counts.long()) > 0
    gaps = (1 - x.gather(1, classes).unsqueeze(2) + x.unsqueeze(1)).clamp_min(0)
    wanted = counts.unsqueeze(2) & ~taken.unsqueeze(1)
    loss = _core.where(wanted, gaps, 0.0).sum((1, 2)) / x.size(1)
    return _reduce(loss.squeeze(0) if input.ndim < 2 else loss, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the binary cross-entropy of logits."""
    reduction = _reduction(size_average, reduce, reduction)
    loss = -(target * _core._logsigmoid(input) + (1 - target) * _core._logsigmoid(-input))
    return _reduce((loss if weight is None else loss * weight).mean(-1), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with a distance of one's own."""
    _expect_margin("triplet_margin_with_distance_loss", margin)
    distance = distance_function or (lambda a, b: (a - b + 1e-6).norm(2, -1))
    far = distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return _reduce((distance(anchor, positive) - far + margin).clamp_min(0), reduction)
