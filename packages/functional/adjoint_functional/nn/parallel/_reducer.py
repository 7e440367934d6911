"""Averages gradients over ranks while backward goes on.

Every parameter has a hook, which copies its gradient into a bucket. A bucket that is full is handed to the communication thread; buckets
go in the order of their numbers, the same on all ranks. When backward has ended, the averages are put in place. After the first
backward the buckets are made anew, in the order in which gradients really came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Variable, no_grad
from adjoint_engine._backward import queue_last_callback

from ... import distributed as dist
from ...distributed import GradBucket, ProcessGroup, ReduceOp
from ...distributed._buckets import mean_of_sparse, plan
from ...futures import Future

FIRST_BYTES = 1 << 20
UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has "
    "parameters that were not used in producing loss. You can enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `adjoint.nn.parallel.DistributedDataParallel`, and by making sure all `forward` function outputs "
    "participate in calculating loss. Parameters without gradient on rank {rank}: {names}"
)

Hook = Callable[[Any, GradBucket], Future[Tensor]]


class Reducer:
    """The buckets of a module's parameters, and what happens to them in a backward.

    Arguments:
        named: the parameters that require grad, with names for errors.
        group: the ranks that average.
        cap: bytes of a bucket.
        views: whether gradients are views of the buckets, which saves a copy.
        unused: whether a backward may miss parameters. They are known when it has ended; after the first backward they fill the last
            buckets, so that the others do not wait for them.
        repeats: whether gradients may come several times in a backward, in each as often as in the first.
        sparse: parameters whose gradients are sparse, as those of ``nn.Embedding(sparse=True)``. They are averaged when backward has ended.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Tensor]],
        group: ProcessGroup,
        cap: int,
        views: bool,
        unused: bool,
        repeats: bool,
        sparse: Sequence[Tensor] = (),
    ) -> None:
        self._sparse = {id(p): p for p in sparse}
        self._names = {id(p): name for name, p in named}
        self._params = [p for _, p in named]
        self._numbers = {id(p): i for i, p in enumerate(self._params)}
        self._group, self._cap, self._views = group, cap, views
        self.hook: tuple[Hook, Any] | None = None
        self.divisor = group.size()
        self.ordered = False  # whether buckets are in the order of a backward
        self._arrived: list[int] = []  # numbers of parameters in the order of their gradients
        self._expecting = False
        self._begun = False  # a backward has reached a parameter, and not all
        self._unused = unused or repeats
        self._awaited: Counter[int] | None = None if repeats else Counter(dict.fromkeys(self._numbers, 1))
        self._build(self._params[::-1])
        for p in self._params:
            p.register_post_accumulate_grad_hook(self._reached)

    def _build(self, params: Sequence[Tensor]) -> None:
        self.buckets = plan([p for p in params if id(p) not in self._sparse], FIRST_BYTES, self._cap)
        self._place = {id(p): (b, view) for b in self.buckets for p, view in zip(b.parameters(), b.gradients())}
        self._reset()

    def _reset(self) -> None:
        self._missing = {b.index(): len(b.parameters()) for b in self.buckets}
        self._ready: set[int] = set()
        self._came: Counter[int] = Counter()  # how often each gradient came
        self._flying: list[Future[Tensor]] = []
        self._begun = False

    # ---- one backward

    def prepare(self) -> None:
        """Before a backward.

        Raises:
            RuntimeError: the backward before has not reached all parameters.
        """
        self.check_finished()
        self._reset()
        self._expecting = True

    def check_finished(self) -> None:
        """Raises if the backward before has not reached all parameters."""
        if self._begun:
            names = [self._names[id(p)] for p in self._params if id(p) not in self._ready]
            raise RuntimeError(UNFINISHED.format(rank=self._group.rank(), names=", ".join(names)))

    def _reached(self, p: Tensor) -> None:
        if not self._expecting:
            return
        if not self._begun:
            self._begun = True
            if self._unused:
                queue_last_callback(self._close)
        key = id(p)
        self._came[key] += 1
        if self._awaited is None or self._came[key] < self._awaited[key]:
            return
        if key in self._ready:
            raise RuntimeError(
                f"Expected to mark a variable ready only once: the gradient of {self._names[key]} came twice in one backward. A part of "
                "the module was used in more than one reentrant backward pass, or parameters are shared between several forwards; "
                "static_graph=True allows it where all backwards are alike."
            )
        with no_grad():
            self._fill(p)

    def _close(self) -> None:
        """After a backward that may have missed parameters."""
        if not self._begun:
            return
        if self._awaited is None:
            self._awaited = self._came
        order = {key: i for i, key in enumerate(self._came)}
        with no_grad():
            for p in sorted(self._params, key=lambda p: order.get(id(p), len(order))):
                if id(p) not in self._ready:
                    self._fill(p)

    def _fill(self, p: Tensor) -> None:
        if p.grad is not None and p.grad.is_sparse != (id(p) in self._sparse):
            said = "sparse" if id(p) in self._sparse else "dense"
            raise RuntimeError(
                f"DistributedDataParallel: the gradient of {self._names[id(p)]} must be {said}, as its module says, got {p.grad.layout}"
            )
        self._ready.add(id(p))
        self._arrived.append(self._numbers[id(p)])
        if id(p) not in self._sparse:
            self._pack(p)
        if len(self._ready) == len(self._params):
            Variable._execution_engine.queue_callback(self.finish)

    def _pack(self, p: Tensor) -> None:
        """Puts a gradient into its bucket, and sends buckets that are full and next."""
        bucket, view = self._place[id(p)]
        if p.grad is None:
            view.zero_()
        elif self.hook is None:
            core.div(p.grad, self.divisor, out=view)
        elif p.grad.data_ptr() != view.data_ptr():
            view.copy_(p.grad)
        if self._views and p.grad is not None:
            p.grad = view
        self._missing[bucket.index()] -= 1
        while len(self._flying) < len(self.buckets) and self._missing[len(self._flying)] == 0:
            self._flying.append(self._launch(self.buckets[len(self._flying)]))

    def _launch(self, bucket: GradBucket) -> Future[Tensor]:
        self._group.backend.submit("all_reduce", lambda: self._group.backend.meet() or [])
        if self.hook is not None:
            hook, state = self.hook
            future = hook(state, bucket)
            if not isinstance(future, Future):
                raise TypeError(
                    f"DistributedDataParallel: a communication hook must return a Future, got {type(future).__name__}"
                )
            return future
        work = dist.all_reduce(bucket.buffer(), group=self._group, async_op=True)
        assert work is not None
        return work.get_future().then(lambda f: f.value()[0])

    def finish(self) -> None:
        """After a backward: puts the averages in place."""
        with no_grad():
            known = self._used_anywhere() if self._unused else None
            for bucket, future in zip(self.buckets, self._flying):
                row = future.wait()
                if row.data_ptr() != bucket.buffer().data_ptr():
                    bucket.set_buffer(row)
                for p, view in zip(bucket.parameters(), bucket.gradients()):
                    if known is None or self._numbers[id(p)] in known:
                        self._put(p, view)
            for p in self._sparse.values():
                if known is None or self._numbers[id(p)] in known:
                    p.grad = mean_of_sparse(p.grad, p, self.divisor, self._group)
        self._begun = self._expecting = False
        self.order()

    def _put(self, p: Tensor, average: Tensor) -> None:
        if p.grad is not None and p.grad.data_ptr() == average.data_ptr():
            return
        if self._views:
            p.grad = average
        elif p.grad is None:
            p.grad = average.clone()
        else:
            p.grad.detach().copy_(average)

    def _used_anywhere(self) -> set[int]:
        """The numbers of the parameters that a rank has used; the gradients of others stay as they are."""
        used = core.tensor([id(p) in self._came for p in self._params], device="cpu")
        dist.all_reduce(used, ReduceOp.BOR, self._group)
        return {i for i, u in enumerate(used.tolist()) if u}

    def order(self) -> None:
        """Once: takes the order of a backward for the buckets, that of the first rank that had one."""
        if not self.ordered:
            self.ordered = True
            orders: list[Any] = [None] * self._group.size()
            dist.all_gather_object(orders, self._arrived, self._group)
            self._build([self._params[i] for i in next(o for o in orders if o)])
        self._arrived = []

    # ---- a rank without inputs

    def shadow(self) -> None:
        """Takes part in the backward of the other ranks with gradients of zero, and gets their average."""
        with no_grad():
            self._reset()
            for bucket in self.buckets:
                bucket.buffer().zero_()
                self._flying.append(self._launch(bucket))
            self.finish()
