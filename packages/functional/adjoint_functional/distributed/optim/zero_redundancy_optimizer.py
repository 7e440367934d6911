"""ZeroRedundancyOptimizer: each rank keeps the optimizer's state of a part of the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import no_grad

from ...optim.optimizer import Optimizer
from .._collectives import broadcast
from .._group import ProcessGroup, resolve
from .._objects import gather_object
from ..algorithms.join import Join, Joinable, JoinHook


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer that is split among ranks: each updates its part of the parameters and sends them to the others.

    All ranks have all gradients, averaged by `DistributedDataParallel`; the state, twice the parameters for Adam, is only
    once in the group.

    Arguments:
        params: as for any optimizer, the same on all ranks.
        optimizer_class: of the parts.
        process_group: the ranks; all.
        parameters_as_bucket_view: for PyTorch's sake; parameters always travel in one row for each rank and dtype.
        defaults: options of ``optimizer_class``.

    Raises:
        ValueError: ``overlap_with_ddp``, which there is not.

    Example::

        >>> import adjoint.distributed as dist
        >>> from adjoint.distributed.optim import ZeroRedundancyOptimizer
        >>> dist.init_process_group("mpi")
        >>> w = ad.nn.Parameter(ad.ones(2))
        >>> optimizer = ZeroRedundancyOptimizer([w], ad.optim.SGD, lr=0.5)
        >>> w.grad = ad.ones(2)
        >>> optimizer.step()
        >>> w.tolist()
        [0.5, 0.5]
        >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: Callable[..., Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise ValueError("ZeroRedundancyOptimizer: overlap_with_ddp must be False")
        group = resolve(process_group)
        if group is None:
            raise ValueError("ZeroRedundancyOptimizer: this rank is no member of the group")
        Joinable.__init__(self)
        self.process_group = group
        self._make, self._options = optimizer_class, defaults
        self._loads = [0] * group.size()  # elements that each rank updates
        self._owners: dict[int, int] = {}  # identity of a parameter: who updates it
        self._own: Optimizer | None = None
        self._consolidated: dict[str, Any] | None = None
        super().__init__(params, optimizer_class([core.zeros(1)], **defaults).defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group, whose parameters are shared out: the largest first, each to the rank that has least."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for p in sorted(group["params"], key=lambda p: -p.numel()):
            owner = self._loads.index(min(self._loads))
            self._owners[id(p)] = owner
            self._loads[owner] += p.numel()
        own = {**group, "params": self._mine(group)}
        if own["params"] and self._own is None:
            self._own = self._make([own], **self._options)
            self.state = self._own.state
        elif own["params"]:
            self._own.add_param_group(own)

    def _mine(self, group: dict[str, Any]) -> list[Tensor]:
        return [p for p in group["params"] if self._owners[id(p)] == self.process_group.rank()]

    def _pairs(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Groups of all parameters, each with that of this rank's part, where it has one."""
        given = [g for g in self.param_groups if self._mine(g)]
        return list(zip(given, self._own.param_groups)) if self._own is not None else []

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Updates this rank's part, and gets the others from their ranks."""
        Join.notify_join_context(self)
        return self._update(closure, **kwargs)

    def _update(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        for group, own in self._pairs():
            own.update({k: v for k, v in group.items() if k != "params"})
        loss = None
        if self._own is not None:
            loss = self._own.step(closure, **kwargs) if closure is not None else self._own.step(**kwargs)
        elif closure is not None:
            loss = closure()
        for group, own in self._pairs():
            group.update({k: v for k, v in own.items() if k != "params"})
        self._spread()
        return loss

    def _spread(self) -> None:
        params = [p for g in self.param_groups for p in g["params"]]
        sent = []
        with no_grad():
            for owner in range(self.process_group.size()):
                of_owner = [p for p in params if self._owners[id(p)] == owner]
                for kind in dict.fromkeys(p.dtype for p in of_owner):
                    alike = [p.detach() for p in of_owner if p.dtype == kind]
                    row = core.cat([p.reshape(-1) for p in alike])
                    sent.append((owner, alike, row, broadcast(row, group=self.process_group, async_op=True, group_src=owner)))
            for owner, alike, row, work in sent:
                assert work is not None
                work.wait()
                if owner != self.process_group.rank():
                    for p, values in zip(alike, row.split([p.numel() for p in alike])):
                        p.copy_(values.view(p.shape))

    # ---- state

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Brings the state of all parts to rank ``to`` of the group, whose ``state_dict`` then has it. All ranks call it."""
        parts: list[Any] | None = [None] * self.process_group.size() if self.process_group.rank() == to else None
        gather_object(self._numbered(), parts, group=self.process_group, group_dst=to)
        if parts is not None:
            state = {n: s for part in parts for n, s in part.items()}
            groups = Optimizer.state_dict(self)["param_groups"]
            self._consolidated = {"state": dict(sorted(state.items())), "param_groups": groups}

    def _numbered(self) -> dict[int, Any]:
        params = [p for g in self.param_groups for p in g["params"]]
        state = {} if self._own is None else self._own.state
        return {i: dict(state[p]) for i, p in enumerate(params) if p in state}

    def state_dict(self) -> dict[str, Any]:
        """The state of all parameters, as one optimizer's, on the rank that ``consolidate_state_dict`` brought it to.

        Raises:
            RuntimeError: it was not called, or for another rank.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to="
                f"{self.process_group.rank()})` on all ranks beforehand if you meant to save the global state."
            )
        return self._consolidated

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave, also in a group of another size: each rank keeps its part."""
        params = [p for g in self.param_groups for p in g["params"]]
        mine = {n: s for n, s in state_dict["state"].items() if self._owners[id(params[n])] == self.process_group.rank()}
        super().load_state_dict({**state_dict, "state": mine})
        if self._own is not None:
            self._own.state = self.state

    # ---- ranks with different numbers of inputs

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A rank without inputs goes on to update its part."""
        return _StepHook(self)

    @property
    def join_device(self) -> core.device:
        """Where counts are: the CPU."""
        return core.device("cpu")

    @property
    def join_process_group(self) -> ProcessGroup:
        """Which ranks take part."""
        return self.process_group


class _StepHook(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        self._optimizer._update()
