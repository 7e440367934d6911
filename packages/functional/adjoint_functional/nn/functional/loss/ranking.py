"""Losses of distances and of orders between inputs."""

from __future__ import annotations

from collections.abc import Callable

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once

from .reduction import reduced, reduction_of


@rounded_once
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
    reduction = reduction_of(size_average, reduce, reduction)
    loss = _core.where(target != -1, input, 0.0) + _core.where(target != 1, (margin - input).clamp_min(0), 0.0)
    return reduced(loss, reduction)


def _expect_as_many_dims(op: str, **given: Tensor) -> None:
    if len({x.ndim for x in given.values()}) > 1:
        raise RuntimeError(
            f"{op}: all tensors should have the same number of dimensions, got {', '.join(f'{n} {x.ndim}D' for n, x in given.items())}"
        )


@rounded_once
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
    reduction = reduction_of(size_average, reduce, reduction)
    _expect_as_many_dims("margin_ranking_loss", input1=input1, input2=input2, target=target)
    return reduced((-target * (input1 - input2) + float(margin)).clamp_min(0), reduction)


@rounded_once
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
    if target.ndim > 1:
        raise RuntimeError(f"cosine_embedding_loss: 0D or 1D target tensor expected, got shape {list(target.shape)}")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"cosine_embedding_loss: {target.ndim}D target tensor expects {target.ndim + 1}D input tensors, got shapes "
            f"{list(input1.shape)} and {list(input2.shape)}"
        )
    reduction = reduction_of(size_average, reduce, reduction)
    eps = 1e-12
    cos = (input1 * input2).sum(-1) / ((input1.square().sum(-1) + eps) * (input2.square().sum(-1) + eps)).sqrt()
    loss = _core.where(target == 1, 1 - cos, 0.0) + _core.where(target == -1, (cos - margin).clamp_min(0), 0.0)
    return reduced(loss, reduction)


def _expect_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: margin must be greater than 0, got {margin}")


@rounded_once
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
    reduction = reduction_of(size_average, reduce, reduction)
    _expect_margin("triplet_margin_loss", margin)
    _expect_as_many_dims("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    distance: Callable[[Tensor, Tensor], Tensor] = lambda a, b: (a - b + eps).norm(p, -1)  # noqa: E731
    far = distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return reduced((distance(anchor, positive) - far + margin).clamp_min(0), reduction)


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
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with a distance of one's own.

    Example::

        >>> distance = lambda x, y: (x - y).abs().sum(-1)
        >>> ad.nn.functional.triplet_margin_with_distance_loss(
        ...     ad.zeros(1, 2), ad.zeros(1, 2), ad.full((1, 2), 0.25), distance_function=distance
        ... )
        tensor(0.5000)
    """
    _expect_margin("triplet_margin_with_distance_loss", margin)
    distance = distance_function or (lambda a, b: (a - b + 1e-6).norm(2, -1))
    far = distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return reduced((distance(anchor, positive) - far + margin).clamp_min(0), reduction)
