"""Learning rates that rise and fall, some with the momentum against them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ._optimizer import Optimizer
from ._schedule import LRScheduler, _warn_get_lr_called_within_step, set_rate


def _for_groups(name: str, optimizer: Optimizer, value: Any) -> list[float]:
    groups = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups ({groups}), got {len(values)}")
    return values


def _set_momentum(group: dict[str, Any], momentum: float) -> None:
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _need_momentum(optimizer: Optimizer) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the initial rate to ``eta_min`` along half a cosine of ``T_0`` epochs, again and again, each ``T_mult`` times as long.

    ``step(epoch)`` takes fractions of epochs.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
        >>> schedule = ad.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> for _ in range(2):
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [1.0]
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, float(last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.T_cur`` of ``self.T_i`` epochs since the last start."""
        _warn_get_lr_called_within_step(self)
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Goes to the next epoch, or to the one that is given."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self._computed(self.get_lr))

    def _place(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_cur, self.T_i = epoch, self.T_0
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult


class CyclicLR(LRScheduler):
    """Between ``base_lr`` and ``max_lr`` along a triangle, once a batch (Smith, arXiv 1506.01186).

    Arguments:
        base_lr, max_lr: the bounds, or lists of one for each group.
        step_size_up, step_size_down: the numbers of steps of a rise and of a fall.
        mode: "triangular"; "triangular2", whose height halves with each cycle; "exp_range", scaled by ``gamma ** step``.
        scale_fn, scale_mode: a scale of one's own, of the number of the "cycle" or of the step ("iterations").
        cycle_momentum, base_momentum, max_momentum: the momentum falls while the rate rises.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if last_epoch == -1:
            for lr, group in zip(_for_groups("base_lr", optimizer, base_lr), optimizer.param_groups):
                set_rate(group, lr)
        self.max_lrs = _for_groups("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self._scale_fn = mode, gamma, scale_fn
        self.scale_mode = "iterations" if mode == "exp_range" and scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _need_momentum(optimizer)
            self.base_momentums = _for_groups("base_momentum", optimizer, base_momentum)
            self.max_momentums = _for_groups("max_momentum", optimizer, max_momentum)
        for group in optimizer.param_groups:
            group["initial_lr"] = float(group["lr"])
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, or at a step."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1)}.get(self.mode, self.gamma**x)

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``; sets their momenta."""
        _warn_get_lr_called_within_step(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        up *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, high - (high - low) * up)
        return [base + (most - base) * up for base, most in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and a scale of one's own."""
        return {k: v for k, v in super().state_dict().items() if k != "_scale_fn"}


class OneCycleLR(LRScheduler):
    """One rise to ``max_lr`` and one fall far below the first rate, step by step (Smith and Topin, arXiv 1708.07120).

    Arguments:
        max_lr: the highest rate, or a list of one for each group.
        total_steps: the number of steps, or else ``epochs`` and ``steps_per_epoch``.
        pct_start: the share of steps that rise.
        anneal_strategy: "cos" or "linear".
        cycle_momentum, base_momentum, max_momentum: the momentum falls while the rate rises.
        div_factor: ``max_lr`` over the first rate.
        final_div_factor: the first rate over the last one.
        three_phase: falls back to the first rate first, as long as it rose.

    Raises:
        ValueError: in ``step``, after ``total_steps``.

    Example::

        >>> optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = ad.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> round(schedule.get_last_lr()[0], 4)
        0.04
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        steps = total_steps if total_steps is not None else (epochs or 0) * (steps_per_epoch or 0)
        if steps <= 0:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch), as positive integers")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps, self._anneal_strategy, self.cycle_momentum = steps, anneal_strategy, cycle_momentum
        # Ends of the phases, and what each goes from and to, for the rate and for the momentum.
        top = pct_start * steps - 1
        self._ends = [top, 2 * top, steps - 1] if three_phase else [top, steps - 1]
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, _for_groups("max_lr", optimizer, max_lr)):
                first = most / div_factor
                group.update(initial_lr=first, max_lr=most, min_lr=first / final_div_factor)
        if cycle_momentum:
            _need_momentum(optimizer)
            lows, highs = (
                _for_groups(n, optimizer, v) for n, v in (("base_momentum", base_momentum), ("max_momentum", max_momentum))
            )
            for group, low, high in zip(optimizer.param_groups, lows, highs):
                group.update(max_momentum=high, base_momentum=low)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_strategy == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))

    def get_lr(self) -> list[Any]:
        """The learning rates of all groups at ``self.last_epoch``; sets their momenta."""
        _warn_get_lr_called_within_step(self)
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The total number of steps is {self.total_steps}")
        phase = next((i for i, end in enumerate(self._ends) if step <= end), len(self._ends) - 1)
        begin, end = (self._ends[phase - 1] if phase else 0.0), self._ends[phase]
        share = (step - begin) / (end - begin)
        rates = ["initial_lr", "max_lr", *(["initial_lr"] if len(self._ends) == 3 else []), "min_lr"]
        momenta = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
        found = []
        for group in self.optimizer.param_groups:
            found.append(self._between(group[rates[phase]], group[rates[phase + 1]], share))
            if self.cycle_momentum:
                _set_momentum(group, self._between(group[momenta[phase]], group[momenta[phase + 1]], share))
        return found
