"""Losses of numbers that are to be near others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

from adjoint_core import Tensor, _core
from adjoint_core._compose import rounded_once

from .reduction import reduced, reduction_of


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely lead to incorrect "
            "results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _spread(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Of one size: a target without dimensions then counts for the type of the result as one that has them."""
    return (input, target) if input.shape == target.shape else _core.broadcast_tensors(input, target)


def _numbers(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Truth values beside numbers count 0 and 1."""
    if (input.dtype is _core.bool) != (target.dtype is _core.bool):
        common = _core.result_type(input, target)
        return input.to(common), target.to(common)
    return input, target


Loss = Callable[[Tensor, Tensor, str], Tensor]


def _expect_weights(weight: Tensor | None, input: Tensor) -> None:
    """An input that the target broadcasts counts as it was given."""
    if weight is not None and weight.shape != input.shape:
        raise ValueError(f"Weights and input must have the same size, got {list(weight.shape)} and {list(input.shape)}")


@rounded_once
def _weighted(loss: Loss, input: Tensor, target: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """The weighted mean divides by the weights, not by their number."""
    weighted = weight * loss(input, target, "none")
    return weighted.sum() / weight.sum() if reduction == "mean" else reduced(weighted, reduction)


def _squares(input: Tensor, target: Tensor, _: str) -> Tensor:
    """Of complex numbers too, which `mse_loss` takes beside a weight only."""
    return (input - target).square()


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
    _warn_of_sizes(input, target)
    spread = _numbers(*_spread(input, target))
    _expect_weights(weight, input)
    input, target = spread
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is None:
        return _core._mse_loss(input, target, reduction)
    return _weighted(_squares, input, target, weight, reduction)


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
    _warn_of_sizes(input, target)
    spread = _spread(input, target)
    _expect_weights(weight, input)
    input, target = spread
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is None:
        return _core._l1_loss(input, target, reduction)
    return _weighted(_core._l1_loss, input, target, weight, reduction)


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
    _warn_of_sizes(input, target)
    input, target = _numbers(*_spread(input, target))
    reduction = reduction_of(size_average, reduce, reduction)
    return _core._smooth_l1_loss(input, target, reduction, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Squared below `delta`, absolute above; the mean of losses with a weight divides by their number.

    Example::

        >>> ad.nn.functional.huber_loss(ad.tensor([1., 4.]), ad.tensor([1., 1.]))
        tensor(1.2500)
    """
    _warn_of_sizes(input, target)
    input, target = _numbers(input, target)
    if weight is None:
        return _core._huber_loss(input, target, reduction, delta)
    _expect_weights(weight, input)
    return reduced(weight * _core._huber_loss(input, target, "none", delta), reduction)


@rounded_once
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
    reduction = reduction_of(size_average, reduce, reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + _core.where(target > 1, stirling, 0.0)
    return reduced(loss, reduction)


@rounded_once
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the log-likelihood of normal values with variance `var`, which may lack the last dimension or have size 1 there.

    Example::

        >>> ad.nn.functional.gaussian_nll_loss(ad.tensor([1.]), ad.tensor([3.]), ad.tensor([1.]))
        tensor(2.)
    """
    var = _core.as_tensor(var)
    if not var.is_meta and bool((_core._all_lanes(var) < 0).any()):
        raise ValueError("gaussian_nll_loss: var has negative entry/entries")
    if var.ndim and var.shape != input.shape:
        differing = [n for m, n in zip(input.shape, var.shape) if m != n]
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif var.ndim != input.ndim or differing != [1]:
            raise ValueError(f"var is of incorrect size: {list(var.shape)} for an input of {list(input.shape)}")
    floor = (eps - var.data).clamp_min(0)  # lifts small variances without a derivative
    var = var + floor
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)
