"""Learning rates as functions of the epoch, alone, in turn and together."""

from __future__ import annotations

import bisect
import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

from adjoint_core import Tensor
from adjoint_core._warnings import warn

from ._optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler."
)  # which subclasses with a step of their own give too

_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite "
    "order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value of the "
    "learning rate schedule."
)


@contextlib.contextmanager
def _enable_get_lr_call(schedule: LRScheduler) -> Iterator[LRScheduler]:
    """Lets ``get_lr`` be called without a warning: what a ``step`` of a subclass enters."""
    schedule._get_lr_called_within_step = True
    try:
        yield schedule
    finally:
        schedule._get_lr_called_within_step = False


def _warn_get_lr_called_within_step(schedule: LRScheduler) -> None:
    """What ``get_lr`` of a subclass calls: a warning to who asks it for the last rates."""
    if not schedule._get_lr_called_within_step:
        text = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."
        warn(text)


def set_rate(group: dict[str, Any], lr: Any) -> None:
    """The learning rate of a group; one that is a tensor is written in place."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(lr)
    else:
        group["lr"] = lr


class LRScheduler:
    """The base of schedules: a subclass defines ``get_lr``, the learning rates of all groups at ``self.last_epoch``.

    Arguments:
        optimizer: its groups get ``initial_lr``, the rate before any schedule.
        last_epoch: the epoch after which a run goes on; -1 begins one.

    Raises:
        TypeError: no optimizer.
        KeyError: a run that goes on, and a group that has no ``initial_lr``.

    Example::

        >>> class Halving(ad.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = Halving(optimizer)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for i, group in enumerate(optimizer.param_groups):
            lr = group["lr"]
            if last_epoch == -1:
                group.setdefault("initial_lr", lr.clone() if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        self.optimizer = optimizer
        vars(optimizer).setdefault("_opt_called", False)
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr: list[Any] = []
        self._step_count = 0
        self._get_lr_called_within_step = False  # subclasses ask it to warn who calls get_lr for the last rates
        self._initial_step()

    def _initial_step(self) -> None:
        """The first step: a run that goes on keeps the rate of its last epoch."""
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``."""
        raise NotImplementedError(f"{type(self).__name__}: get_lr is not defined")

    def get_last_lr(self) -> list[Any]:
        """The learning rates that the last ``step`` set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next epoch, or (deprecated) to the one that is given, and sets the learning rates."""
        if self._step_count == 1 and not (self._is_initial or self.optimizer._opt_called or "step" in vars(self.optimizer)):
            warn(_TOO_EARLY)
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            self._set(self._computed(self.get_lr))
            return
        self._warn_of_epoch()
        self.last_epoch = epoch
        self._set(self._computed(self._closed_form))

    def _warn_of_epoch(self) -> None:
        warn(EPOCH_DEPRECATION_WARNING)

    def _computed(self, rates: Callable[[], list[Any]]) -> list[Any]:
        with _enable_get_lr_call(self):
            return rates()

    def _closed_form(self) -> list[Any]:
        """The learning rates at ``self.last_epoch``, whatever they are now."""
        return self.get_lr()

    def _set(self, rates: Sequence[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, lr)
        self._last_lr = [float(g["lr"]) if isinstance(g["lr"], Tensor) else g["lr"] for g in self.optimizer.param_groups]

    def _rates(self) -> list[float]:
        return [float(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave."""
        self.__dict__.update(state_dict)


def _kept(functions: Sequence[Any]) -> list[Any]:
    return [None if isinstance(f, FunctionType) else dict(f.__dict__) for f in functions]


class _Functions(LRScheduler):
    """One function of the epoch for each group. Functions are not saved in ``state_dict``, objects with ``__call__`` are."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and plain functions."""
        return {**super().state_dict(), "lr_lambdas": _kept(self.lr_lambdas)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, state in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if state is not None:
                f.__dict__.update(state)


class LambdaLR(_Functions):
    """The initial rate times a function of the epoch: ``lr_lambda``, or a list of one for each group.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = ad.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``."""
        _warn_get_lr_called_within_step(self)
        return [lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_Functions):
    """The rate is multiplied by ``lr_lambda(epoch)`` in each epoch but the first."""

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``."""
        _warn_get_lr_called_within_step(self)
        return [lr if self._is_initial else lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, self._rates())]


class _Factor(LRScheduler):
    """The rate is multiplied by a factor in each epoch, so that schedules can be combined."""

    def _factor(self, epoch: int) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``."""
        _warn_get_lr_called_within_step(self)
        return [lr * self._factor(self.last_epoch) for lr in self._rates()]

    def _closed_form(self) -> list[Any]:
        product = math.prod(self._factor(epoch) for epoch in range(self.last_epoch + 1))
        return [lr * product for lr in self.base_lrs]


class StepLR(_Factor):
    """Times ``gamma`` after every ``step_size`` epochs.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = ad.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> for _ in range(4):
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch and epoch % self.step_size == 0 else 1.0


class MultiStepLR(_Factor):
    """Times ``gamma`` at each of the ``milestones``."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma ** self.milestones[epoch]


class ConstantLR(_Factor):
    """Times ``factor`` for the first ``total_iters`` epochs."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.factor if epoch == 0 else 1.0 / self.factor if epoch == self.total_iters else 1.0


class LinearLR(_Factor):
    """Times a factor that goes from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0 or epoch > self.total_iters or self._is_initial:
            return 1.0 if epoch else self.start_factor
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1) * rise)


class ExponentialLR(_Factor):
    """Times ``gamma`` in each epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch and not self._is_initial else 1.0


class PolynomialLR(_Factor):
    """Times ``(1 - epoch / total_iters) ** power``, and 0 from then on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0 or epoch > self.total_iters or self._is_initial:
            return 1.0
        return ((1.0 - epoch / self.total_iters) / (1.0 - (epoch - 1) / self.total_iters)) ** self.power


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to ``eta_min`` along half a cosine of ``T_max`` epochs, and back.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = ad.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        >>> for _ in range(2):
        ...     schedule.step()
        >>> round(schedule.get_last_lr()[0], 4)
        0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: float, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``."""
        _warn_get_lr_called_within_step(self)
        epoch, low = self.last_epoch, self.eta_min
        if epoch == 0 or self._is_initial:
            return self._rates()
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (epoch, epoch - 1))
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - low) * rise for base, lr in zip(self.base_lrs, self._rates())]
        return [now / before * (lr - low) + low for lr in self._rates()]

    def _closed_form(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class ChainedScheduler:
    """Steps several schedules of one optimizer together: their factors multiply."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        if any(s.optimizer is not self.optimizer for s in schedulers):
            raise ValueError("ChainedScheduler expects all schedulers to belong to the same optimizer")
        self._schedulers = list(schedulers)

    def step(self) -> None:
        """Steps all."""
        for scheduler in self._schedulers:
            scheduler.step()

    def get_last_lr(self) -> list[Any]:
        """The learning rates that the last ``step`` set."""
        return self._schedulers[-1].get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """The states of all schedules."""
        return {"_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave."""
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(LRScheduler):
    """One schedule after the other: the next takes over, from its beginning, at each of the ``milestones``.

    Example::

        >>> rates = ad.optim.lr_scheduler
        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> parts = [rates.ConstantLR(optimizer, 0.5, 2), rates.ExponentialLR(optimizer, 0.9)]
        >>> schedule = rates.SequentialLR(optimizer, parts, milestones=[2])
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        if any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError("SequentialLR expects all schedulers to belong to the same optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "SequentialLR expects the number of schedulers to be one more than the number of milestones, "
                f"got {len(schedulers)} and {len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:  # each schedule began when it was made: only the first one counts
            set_rate(group, group["initial_lr"])
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next epoch."""
        self.last_epoch += 1
        at = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at and self._milestones[at - 1] == self.last_epoch:
            scheduler.last_epoch = 0
            scheduler._set(scheduler._computed(scheduler._closed_form))
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of the schedules their states."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)
