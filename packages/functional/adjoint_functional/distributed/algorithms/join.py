"""Join: training with different numbers of inputs on different ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import adjoint_core as core

from .._collectives import all_reduce


class JoinHook:
    """What a rank without inputs does: in each step of the others, and at the end."""

    def main_hook(self) -> None:
        """Takes part in the collectives of one step."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """After the last step of all; ``is_last_joiner`` says whether this rank has seen it."""


class JoinConfig:
    """The block that an object is in."""

    def __init__(self, enable: bool = False, throw: bool = False, first: bool = False) -> None:
        self.enable, self.throw, self.first = enable, throw, first
        self.divide = True
        self.counted = 0  # ranks that have inputs, in this step


class Joinable(ABC):
    """What can be trained in a `Join` block: it calls ``Join.notify_join_context(self)`` before the first collective of each step."""

    def __init__(self) -> None:
        self._join_config = JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What to do on a rank without inputs; gets the options of `Join`."""

    @property
    @abstractmethod
    def join_device(self) -> core.device:
        """Where counts are."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The ranks."""


class Join:
    """A block in which ranks may have different numbers of inputs.

    A rank that leaves the block early takes part in the collectives of the others until all have left.

    Arguments:
        joinables: in the order in which a step uses them.
        enable: False: the block does nothing.
        throw_on_early_termination: raise on all ranks when the first has no inputs left.
        kwargs: options for the objects.

    Raises:
        ValueError: no objects, or their groups differ.
        RuntimeError: a rank has no inputs left, if asked for.
    """

    def __init__(
        self, joinables: Sequence[Joinable], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        groups = {id(j.join_process_group) for j in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables, self._enable, self._throw = list(joinables), enable, throw_on_early_termination
        self._group = joinables[0].join_process_group
        for i, j in enumerate(joinables):
            j._join_config = JoinConfig(enable, throw_on_early_termination, i == 0)
        self._hooks = [j.join_hook(**kwargs) for j in joinables]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if not self._enable or kind is not None:
            return
        last = True
        while count := _sum(0, self._group):
            if self._throw:
                _sum(1, self._group)
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            last = False
            for j, hook in zip(self._joinables, self._hooks):
                j._join_config.counted = count
                hook.main_hook()
        for j, hook in zip(self._joinables, self._hooks):
            hook.post_hook(last)
            j._join_config = JoinConfig()

    @staticmethod
    def notify_join_context(joinable: Joinable) -> int | None:
        """Tells ranks without inputs that a step begins; returns how many ranks have inputs, None outside of a block.

        Raises:
            RuntimeError: a rank has none left, and the block wants to know.
        """
        config = joinable._join_config
        if not config.enable or not config.first:
            return None
        config.counted = _sum(1, joinable.join_process_group)
        if config.throw and config.counted < joinable.join_process_group.size():
            _sum(0, joinable.join_process_group)
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return config.counted


def _sum(number: int, group: Any) -> int:
    t = core.tensor([number], device="cpu")
    all_reduce(t, group=group)
    return int(t.item())
