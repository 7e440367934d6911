"""DistributedDataParallel: every rank computes on data of its own, and gradients are averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import is_grad_enabled, no_grad

from ... import distributed as dist
from ...distributed import GradBucket
from ...distributed._group import ProcessGroup, default_group, resolve
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ...futures import Future
from ..modules import Embedding, EmbeddingBag, Module
from ._reducer import Reducer


class DistributedDataParallel(Module, Joinable):
    """A module whose gradients are averaged over all ranks in each backward, while backward goes on.

    Parameters and buffers begin as those of rank 0. Every rank must have the same parameters and go through the same number of
    backwards; if ``loss`` is a mean over a rank's part of a batch, parts of equal size give the gradients of the whole batch.

    Arguments:
        module: on the CPU; at least one parameter requires grad.
        broadcast_buffers: whether each forward begins with the buffers of rank 0.
        process_group: the ranks; all.
        bucket_cap_mb: gradients travel in messages of about this size; 25.
        find_unused_parameters: whether a backward may miss parameters: on that rank they count as zero, and one that no rank used keeps
            its gradient.
        gradient_as_bucket_view: gradients are views of the messages, which saves memory and a copy.
        static_graph: all backwards are alike: a gradient may come several times in each (reentrant checkpoints), and parameters may be
            unused.
        init_sync: whether to check and broadcast parameters now.
        device_ids, output_device, dim, check_reduction: for PyTorch's sake; devices must be None.

    Raises:
        RuntimeError: no parameter requires grad, or ranks have different ones.
        ValueError: a device is asked for.

    Example::

        >>> import adjoint.distributed as dist
        >>> from adjoint.nn.parallel import DistributedDataParallel
        >>> dist.init_process_group("mpi")
        >>> model = DistributedDataParallel(ad.nn.Linear(3, 1))
        >>> model(ad.ones(2, 3)).sum().backward()
        >>> model.module.bias.grad
        tensor([2.])
        >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[int] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        Module.__init__(self)
        Joinable.__init__(self)
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient."
            )
        if device_ids or output_device is not None:
            raise ValueError(
                f"DistributedDataParallel: modules of the CPU have no device_ids, got {device_ids} and {output_device}"
            )
        group = resolve(process_group)
        if group is None:
            raise ValueError("DistributedDataParallel: this rank is no member of the group")
        self.module, self.process_group, self.broadcast_buffers = module, group, broadcast_buffers
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view, self.dim = gradient_as_bucket_view, dim
        self.require_backward_grad_sync = self._sync_buffers_next = True
        if init_sync:
            self._check_same(named)
            self._spread([*module.parameters(), *module.buffers()], 0)
        self._bucket_bytes = int((25 if bucket_cap_mb is None else bucket_cap_mb) * (1 << 20))
        self._make_reducer()

    def _make_reducer(self) -> None:
        named = [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]
        how = self.gradient_as_bucket_view, self.find_unused_parameters, self.static_graph
        tables = [m for m in self.module.modules() if isinstance(m, Embedding | EmbeddingBag) and m.sparse]
        sparse = dict.fromkeys(id(m.weight) for m in tables)
        self.reducer = Reducer(named, self.process_group, self._bucket_bytes, *how, [p for _, p in named if id(p) in sparse])

    def __getstate__(self) -> dict[str, Any]:
        """A copy joins the world: a group and hooks do not travel."""
        return {name: value for name, value in self.__dict__.items() if name not in ("process_group", "reducer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.process_group = default_group()
        self._make_reducer()

    def _check_same(self, named: list[tuple[str, Tensor]]) -> None:
        own = [(name, tuple(p.shape), str(p.dtype)) for name, p in named]
        every: list[Any] = [None] * self.process_group.size()
        dist.all_gather_object(every, own, self.process_group)
        for rank, others in enumerate(every):
            if others != every[0]:
                first = next(pair for pair in zip([*every[0], None], [*others, None]) if pair[0] != pair[1])
                raise RuntimeError(
                    f"DistributedDataParallel: ranks have different parameters: rank 0 has {len(every[0])}, rank {rank} has {len(others)}; "
                    f"the first that differ are {first[0]} and {first[1]}"
                )

    def _spread(self, tensors: Sequence[Tensor], source: int) -> None:
        """Replaces tensors by those of a rank of the group, in one message for each dtype."""
        with no_grad():
            for kind in dict.fromkeys(t.dtype for t in tensors):
                alike = [t for t in tensors if t.dtype == kind]
                row = core.cat([t.detach().reshape(-1) for t in alike])
                dist.broadcast(row, group=self.process_group, group_src=source)
                if self.process_group.rank() != source:
                    for t, values in zip(alike, row.split([t.numel() for t in alike])):
                        t.detach().copy_(values.view(t.shape))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's own forward, with buffers of rank 0 before and a backward that averages after."""
        if is_grad_enabled() and self._join_config.enable:
            count = Join.notify_join_context(self)
            if count is not None and not self._join_config.divide:
                self.reducer.divisor = count
            self._all_sync(self.require_backward_grad_sync)
        if self.require_backward_grad_sync and is_grad_enabled():
            self.reducer.check_finished()
        if self._sync_buffers_next:
            self._sync_buffers()
        output = self.module(*inputs, **kwargs)
        averages = is_grad_enabled() and self.require_backward_grad_sync
        self._sync_buffers_next = self.require_backward_grad_sync or not is_grad_enabled()
        if averages:
            self.reducer.prepare()
        return output

    def _sync_buffers(self, joined: bool = False) -> None:
        buffers = list(self.module.buffers())
        if self.broadcast_buffers and buffers:
            self._spread(buffers, self._common_rank(not joined) if self._join_config.enable else 0)

    def _common_rank(self, able: bool) -> int:
        """The highest rank that is able to; all ranks call it."""
        rank = core.tensor([self.process_group.rank() if able else -1], device="cpu")
        dist.all_reduce(rank, dist.ReduceOp.MAX, self.process_group)
        return int(rank.item())

    def _all_sync(self, sync: bool) -> bool:
        """Whether the ranks that have inputs average in this backward."""
        flag = core.tensor([sync], device="cpu")
        dist.all_reduce(flag, dist.ReduceOp.BOR, self.process_group)
        return bool(flag.item())

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Forwards in the block have backwards that do not average: gradients add up on each rank until one outside does."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Future[Tensor]]) -> None:
        """Averages buckets by ``hook(state, bucket)``, which returns a future of the averaged row; once, before the first backward.

        `distributed.algorithms.ddp_comm_hooks.default_hooks` has some. Callbacks of futures run in the communication thread.

        Raises:
            TypeError: no function.
            RuntimeError: there is one.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.hook = (hook, state)

    # ---- ranks with different numbers of inputs

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """A block in which ranks may have different numbers of inputs: those that have none left take part with zeros.

        Arguments:
            divide_by_initial_world_size: whether averages count all ranks, or those that still have inputs.
        """
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a rank does when it has no inputs left."""
        return _DataParallelHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> core.device:
        """Where the ranks' counts are: the CPU."""
        return core.device("cpu")

    @property
    def join_process_group(self) -> ProcessGroup:
        """Which ranks take part."""
        return self.process_group


class _DataParallelHook(JoinHook):
    def __init__(self, ddp: DistributedDataParallel, divide: bool) -> None:
        self.ddp = ddp
        ddp._join_config.divide = divide

    def main_hook(self) -> None:
        ddp = self.ddp
        sync = ddp._all_sync(False)
        if ddp._sync_buffers_next:
            ddp._sync_buffers(joined=True)
        ddp._sync_buffers_next = sync
        if sync:
            ddp.reducer.divisor = ddp.process_group.size() if ddp._join_config.divide else ddp._join_config.counted
            ddp.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        ddp = self.ddp
        ddp.reducer.divisor = ddp.process_group.size()
        ddp._spread([*ddp.module.parameters(), *ddp.module.buffers()], ddp._common_rank(is_last_joiner))
