"""Learning rates that fall when a loss does not."""

from __future__ import annotations

import math
from typing import Any

from ._optimizer import Optimizer
from ._schedule import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rates by ``factor`` when a metric did not get better for more than ``patience`` epochs.

    Arguments:
        mode: "min" if smaller is better, or "max".
        threshold, threshold_mode: what counts as better: by more than that share ("rel") or that much ("abs").
        cooldown: epochs after a reduction in which nothing is counted.
        min_lr: the least rate, or a list of one for each group.
        eps: rates that would change by no more stay.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = ad.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in (1.0, 1.0, 1.0):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        groups = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(self.min_lrs)}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.best = self.mode_worse = math.inf if mode == "min" else -math.inf
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self._rates()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes to the next epoch, with the metric of this one."""
        current = float(metrics)
        if epoch is not None:
            self._warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _reduce_lr(self, epoch: int) -> None:
        """What a step calls that has waited long enough; ignite puts its own in its place."""
        groups = len(self.optimizer.param_groups)
        if len(self.min_lrs) != groups:
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"ReduceLROnPlateau: min_lrs has {len(self.min_lrs)} rates for {groups} parameter groups of the optimizer: a group was added since"
                )
            self.min_lrs = [self.default_min_lr] * groups
        rates = [max(lr * self.factor, least) for lr, least in zip(self._rates(), self.min_lrs)]
        self._set([new if old - new > self.eps else old for old, new in zip(self._rates(), rates)])

    def _reset(self) -> None:
        """Forgets the metrics so far."""
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    @property
    def in_cooldown(self) -> bool:
        """Whether a reduction was not long ago."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether a metric is better than the best so far."""
        down = self.mode == "min"
        if self.threshold_mode == "rel":
            return a < best * (1.0 - self.threshold) if down else a > best * (1.0 + self.threshold)
        return a < best - self.threshold if down else a > best + self.threshold
