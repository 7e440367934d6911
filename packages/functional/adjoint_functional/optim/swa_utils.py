"""Averages of weights over the steps of a training: equal ones (SWA) and exponential ones (EMA)."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import no_grad

from ..nn.modules import Module
from ..nn.modules.norm import _BatchNorm
from ._optimizer import Optimizer
from ._schedule import LRScheduler, _warn_get_lr_called_within_step

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The function ``(averaged, new, count) -> decay · averaged + (1 - decay) · new``.

    Raises:
        ValueError: ``decay`` is not in [0, 1].

    Example::

        >>> get_ema_avg_fn(0.75)(ad.zeros(()), ad.ones(()), 3)
        tensor(0.2500)
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return no_grad()(lambda averaged, new, count: decay * averaged + (1 - decay) * new)


def get_swa_avg_fn() -> Average:
    """The function ``(averaged, new, count) -> averaged + (new - averaged) / (count + 1)``: the mean of all.

    Example::

        >>> get_swa_avg_fn()(ad.zeros(()), ad.ones(()), 3)
        tensor(0.2500)
    """
    return no_grad()(lambda averaged, new, count: averaged + (new - averaged) / (count + 1))


def _in_place(average: Average) -> Averages:
    @no_grad()
    def update(averaged: Sequence[Tensor], new: Sequence[Tensor], count: Any) -> None:
        for a, b in zip(averaged, new, strict=True):
            a.copy_(average(a, b, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """As ``get_ema_avg_fn``, for lists of tensors, of which the first is written to."""
    return _in_place(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Averages:
    """As ``get_swa_avg_fn``, for lists of tensors, of which the first is written to."""
    return _in_place(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's at each ``update_parameters``.

    Arguments:
        model: what to copy.
        device: where the copy lives; None: where the model does.
        avg_fn: ``(averaged, new, count)`` gives the new average of one tensor; None: the mean of all.
        multi_avg_fn: instead of it, ``(averaged, new, count)`` writes into a list of tensors.
        use_buffers: average buffers too; otherwise they are copied.

    Raises:
        AssertionError: both functions are given.

    Example::

        >>> model = ad.nn.Linear(1, 1)
        >>> averaged = ad.optim.swa_utils.AveragedModel(model)
        >>> for weight in (1.0, 2.0, 6.0):
        ...     _ = ad.nn.init.constant_(model.weight, weight)
        ...     averaged.update_parameters(model)
        >>> averaged.module.weight.item(), averaged.n_averaged.item()
        (3.0, 3)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", core.tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged copy gives."""
        return self.module(*args, **kwargs)

    def _tensors(self, model: Module) -> list[Tensor]:
        return [t.detach() for t in itertools.chain(model.parameters(), model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model: Module) -> None:
        """Takes the model's parameters into the average; the first time, copies them."""
        mine = self._tensors(self.module)
        given = [new.to(old.device) for old, new in zip(mine, self._tensors(model), strict=True)]
        if self.n_averaged == 0:
            for old, new in zip(mine, given):
                old.copy_(new)
        elif self.multi_avg_fn is not None:
            kinds = dict.fromkeys((t.device, t.dtype) for t in mine)
            for kind in kinds:
                at = [i for i, t in enumerate(mine) if (t.device, t.dtype) == kind]
                self.multi_avg_fn([mine[i] for i in at], [given[i] for i in at], self.n_averaged.to(kind[0]))
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for old, new in zip(mine, given):
                old.copy_(average(old, new, self.n_averaged.to(old.device)))
        if not self.use_buffers:
            for old, new in zip(self.module.buffers(), model.buffers(), strict=True):
                old.detach().copy_(new.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Computes the running statistics of the batch normalizations of a model anew, in one pass over the data.

    Arguments:
        loader: batches: tensors, or tuples and lists that begin with one.
        model: it is called with each batch, in training mode.
        device: where to put the batches first.

    Example::

        >>> model = ad.nn.Sequential(ad.nn.BatchNorm1d(1))
        >>> ad.optim.swa_utils.update_bn([ad.tensor([[1.0], [3.0]]), ad.tensor([[5.0], [7.0]])], model)
        >>> model[0].running_mean
        tensor([4.])
    """
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    training, momenta = model.training, [m.momentum for m in norms]
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean of all batches
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Goes from the learning rate at its first step to ``swa_lr``, and stays there.

    Arguments:
        swa_lr: the last rate, of all groups or of each.
        anneal_epochs: how many steps that takes.
        anneal_strategy: "cos" or "linear".

    Raises:
        ValueError: an unknown strategy, a negative number of epochs, or a wrong number of rates.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = ad.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.75]
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups. swa_lr has {len(rates)} values, param_groups has {len(groups)}."
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(groups, rates):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _left(self, step: int) -> float:
        """How much of the way to ``swa_lr`` is left after so many steps."""
        share = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return 1 - share if self._anneal_strategy == "linear" else (1 + math.cos(math.pi * share)) / 2

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups: others may have changed them before the first step."""
        _warn_get_lr_called_within_step(self)
        step = self._step_count - 1 if self.anneal_epochs else max(1, self._step_count - 1)
        before = self._left(step - 1)
        factor = self._left(step) / before if before else 0.0
        return [g["swa_lr"] + (g["lr"] - g["swa_lr"]) * factor for g in self.optimizer.param_groups]
