"""Data parallel against one process with the whole batch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from _checks import run

import adjoint as ad
import adjoint.distributed as dist
from adjoint.distributed.algorithms.ddp_comm_hooks import default_hooks
from adjoint.distributed.algorithms.join import Join
from adjoint.distributed.optim import ZeroRedundancyOptimizer
from adjoint.nn.parallel import DistributedDataParallel as DDP
from adjoint.utils.checkpoint import checkpoint
from adjoint.utils.data import DistributedSampler

dist.init_process_group("mpi")
K, R = dist.get_world_size(), dist.get_rank()
nn, F = ad.nn, ad.nn.functional


def model(dtype: Any = ad.float64) -> nn.Module:
    ad.manual_seed(3)
    layers = [nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 2)]
    return nn.Sequential(*layers).to(dtype)


def batch(step: int = 0, dtype: Any = ad.float64) -> tuple[ad.Tensor, ad.Tensor]:
    ad.manual_seed(100 + step)
    return ad.randn(4 * K, 6, dtype=dtype), ad.randn(4 * K, 2, dtype=dtype)


def part(t: ad.Tensor) -> ad.Tensor:
    return t[4 * R : 4 * R + 4]


def close(a: Any, b: Any, tolerance: float = 1e-10) -> None:
    for (name, p), q in zip(a.named_parameters(), b.parameters()):
        assert ad.allclose(p, q, rtol=tolerance, atol=tolerance), (name, p, q)


def grads_close(a: Any, b: Any, tolerance: float = 1e-10) -> None:
    for (name, p), q in zip(a.named_parameters(), b.parameters()):
        assert (p.grad is None) == (q.grad is None), (name, p.grad, q.grad)
        assert p.grad is None or ad.allclose(p.grad, q.grad, rtol=tolerance, atol=tolerance), (name, p.grad, q.grad)


# Buckets of everything in one, of one parameter each, and of a few.
WAYS = [
    {},
    {"bucket_cap_mb": 1e-5},
    {"bucket_cap_mb": 0.005, "gradient_as_bucket_view": True},
    {"find_unused_parameters": True},
]


def check_training_is_that_of_one_process() -> None:
    for dtype, tolerance in ((ad.float64, 1e-10), (ad.float32, 1e-4)):
        for way in WAYS:
            one, own = model(dtype), model(dtype)
            if R:
                [p.data.fill_(7) for p in own.parameters()]  # only rank 0's count
            ddp = DDP(own, **way)
            close(own, one, 0)
            opts = [ad.optim.Adam(m.parameters(), lr=0.01) for m in (one, ddp)]
            for step in range(4):
                x, y = batch(step, dtype)
                for m, (a, b), opt in ((one, (x, y), opts[0]), (ddp, (part(x), part(y)), opts[1])):
                    opt.zero_grad(set_to_none=step % 2 == 0)
                    F.mse_loss(m(a), b).backward()
                    opt.step()
                grads_close(own, one, tolerance)
            close(own, one, tolerance)


def check_buckets_go_in_the_order_of_backward() -> None:
    class Crossed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last, self.first = nn.Linear(3, 1), nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.last(self.first(x))

    ddp = DDP(Crossed(), bucket_cap_mb=1e-9)
    import adjoint_functional.nn.parallel._reducer as r

    r.FIRST_BYTES = 1
    for _ in range(2):
        ddp(ad.ones(2, 3)).sum().backward()
    order = [name for b in ddp.reducer.buckets for p in b.parameters() for name, q in ddp.module.named_parameters() if p is q]
    r.FIRST_BYTES = 1 << 20
    assert {n.partition(".")[0] for n in order[:2]} == {"last"} and {n.partition(".")[0] for n in order[2:]} == {"first"}, order


def check_reduction_goes_on_while_backward_does() -> None:
    """The first bucket is handed over before backward has reached the last parameter."""
    seen: list[str] = []
    own = model()
    ddp = DDP(own, bucket_cap_mb=1e-5)

    def hook(state: Any, bucket: Any) -> Any:
        seen.append(f"bucket {bucket.index()}")
        return default_hooks.allreduce_hook(state, bucket)

    ddp.register_comm_hook(None, hook)
    own[0].weight.register_hook(lambda g: seen.append("last gradient"))
    for _ in range(2):
        seen.clear()
        ddp(part(batch()[0])).sum().backward()
    assert "bucket 0" in seen[: seen.index("last gradient")] or len(ddp.reducer.buckets) == 1, seen


def check_no_sync() -> None:
    for way in WAYS:
        one, own = model(), model()
        ddp = DDP(own, **way)
        for step in range(2):
            for micro in range(3):
                x, y = batch(3 * step + micro)
                F.mse_loss(one(x), y).backward()
                if micro < 2:
                    with ddp.no_sync():
                        F.mse_loss(ddp(part(x)), part(y)).backward()
                else:
                    F.mse_loss(ddp(part(x)), part(y)).backward()
            grads_close(own, one)
            ad.optim.SGD(one.parameters(), lr=0.1).step()
            ad.optim.SGD(ddp.parameters(), lr=0.1).step()
            one.zero_grad(), own.zero_grad()
        close(own, one)


class Branches(nn.Module):
    """Rank R uses branch R; nobody uses the last one."""

    def __init__(self) -> None:
        super().__init__()
        ad.manual_seed(3)
        self.common = nn.Linear(6, 2)
        self.branches = nn.ModuleList([nn.Linear(2, 2) for _ in range(K + 1)])
        self.to(ad.float64)

    def forward(self, x: Any, which: int) -> Any:
        return {"out": [self.branches[which](self.common(x))]}


def check_unused_parameters() -> None:
    for way in ({}, {"gradient_as_bucket_view": True}, {"static_graph": True, "bucket_cap_mb": 1e-5}):
        one, own = Branches(), Branches()
        ddp = DDP(own, find_unused_parameters=True, **way)
        for step in range(3):
            x, y = batch(step)
            loss = (
                sum(F.mse_loss(one(x[4 * r : 4 * r + 4], (r + step) % K)["out"][0], y[4 * r : 4 * r + 4]) for r in range(K)) / K
            )
            for m, value in ((one, loss), (own, F.mse_loss(ddp(part(x), (R + step) % K)["out"][0], part(y)))):
                m.zero_grad()
                value.backward()
            grads_close(own, one)
            assert own.branches[K].weight.grad is None
    ddp = DDP(Branches())
    ddp(part(batch()[0]), 0)["out"][0].sum().backward()
    try:
        ddp(part(batch()[0]), 0)
    except RuntimeError as error:
        assert "Expected to have finished reduction" in str(error) and f"branches.{K}.weight" in str(error)
    else:
        raise AssertionError("no error")


class Heads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = (nn.Linear(2, 2, bias=False) for _ in range(2))
        for p in self.parameters():
            nn.init.ones_(p)


def check_sparse_gradients() -> None:
    """Rows of a table that ranks look up: the mean over ranks is what one process gets, and stays sparse."""
    for way in WAYS:
        ad.manual_seed(5)
        own = nn.Sequential(nn.Embedding(50, 3, sparse=True), nn.Linear(3, 2)).double()
        one = copy.deepcopy(own)
        ddp, places = DDP(own, **way), ad.randint(0, 50, (4 * K,))
        mine = places[4 * R : 4 * R + 4 - (R == 1)]  # ranks have different numbers of rows
        for _ in range(2):  # gradients add up
            ddp(mine).square().sum().backward()
        for r in range(K):
            for _ in range(2):
                (one(places[4 * r : 4 * r + 4 - (r == 1)]).square().sum() / K).backward()
        assert own[0].weight.grad.is_sparse
        assert ad.allclose(own[0].weight.grad.to_dense(), one[0].weight.grad.to_dense())
        assert ad.allclose(own[1].weight.grad, one[1].weight.grad)
    wrong = DDP(nn.Sequential(nn.Embedding(5, 2, sparse=True)))
    try:
        (wrong(places[:1] % 5).sum() + wrong.module[0].weight.sum()).backward()
    except RuntimeError as error:
        assert "the gradient of 0.weight must be sparse, as its module says" in str(error), error
    else:
        raise AssertionError("a dense gradient of a sparse table went through")


def check_outputs_outside_of_the_loss() -> None:
    """A head that a loss leaves out keeps its gradient, and does not keep others from being averaged."""

    class Both(Heads):
        def forward(self, x: Any) -> Any:
            return self.a(x), self.b(x)

    ddp = DDP(Both(), find_unused_parameters=True)
    for _ in range(3):
        ddp.zero_grad()
        ddp(ad.full((1, 2), R + 1.0))[0].sum().backward()
        assert ddp.module.a.weight.grad.tolist() == [[(K + 1) / 2] * 2] * 2 and ddp.module.b.weight.grad is None


def check_outputs_of_any_kind() -> None:
    class Anything:
        pass

    class Both(Heads):
        def forward(self, x: Any) -> Any:
            out = Anything()
            out.a, out.b = self.a(x), self.b(x)
            return out

    ddp = DDP(Both(), find_unused_parameters=True)
    for _ in range(2):
        ddp.zero_grad()
        out = ddp(ad.full((1, 2), R + 1.0))
        (out.a + 2 * out.b).sum().backward()
        assert ddp.module.b.weight.grad.tolist() == [[K + 1.0] * 2] * 2


def check_static_graph_with_checkpoints() -> None:
    """A layer in two reentrant checkpoints gets its gradient in two backwards inside of one."""

    class Twice(Heads):
        def forward(self, x: Any) -> Any:
            return checkpoint(self.a, checkpoint(self.a, x, use_reentrant=True) * x, use_reentrant=True)

    one, ddp = Twice(), DDP(Twice(), static_graph=True)
    inputs = [ad.full((1, 2), r + 1.0, requires_grad=True) for r in range(K)]
    for _ in range(3):
        one.zero_grad()
        ddp.zero_grad()
        ddp(inputs[R]).sum().backward()
        for x in inputs:
            (one(x).sum() / K).backward()
        assert ad.allclose(ddp.module.a.weight.grad, one.a.weight.grad) and ddp.module.b.weight.grad is None


def check_copies() -> None:
    def gradients(ddp: Any) -> list[Any]:
        x, y = batch()
        ddp.zero_grad()
        F.mse_loss(ddp(part(x)), part(y)).backward()
        return [p.grad for p in ddp.parameters()]

    ddp = DDP(model())
    for other in (copy.deepcopy(ddp), pickle.loads(pickle.dumps(ddp)), ad.optim.swa_utils.AveragedModel(ddp).module):
        assert all(ad.equal(p, q) for p, q in zip(gradients(ddp), gradients(other)))


def check_buffers() -> None:
    own = nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3)).to(ad.float64)
    ddp = DDP(own)
    for step in range(2):
        ddp(part(batch(step)[0])).sum().backward()
    means: list[Any] = [None] * K
    dist.all_gather_object(means, own[1].running_mean)
    assert not ad.equal(means[0], means[1])
    ddp.eval()
    ddp(part(batch()[0]))
    dist.all_gather_object(means, own[1].running_mean)
    assert all(ad.equal(means[0], m) for m in means)
    left = DDP(own, broadcast_buffers=False)
    own[1].running_mean.fill_(R)
    left(part(batch()[0]))
    assert own[1].running_mean[0] == R


def check_views_share_memory_with_buckets() -> None:
    ddp = DDP(model(), gradient_as_bucket_view=True)
    for _ in range(2):
        ddp(part(batch()[0])).sum().backward()
    rows = {b.buffer().untyped_storage().data_ptr() for b in ddp.reducer.buckets}
    assert all(p.grad.untyped_storage().data_ptr() in rows for p in ddp.parameters())


def check_communication_hooks() -> None:
    hooks = [
        (default_hooks.allreduce_hook, 1e-10),
        (default_hooks.fp16_compress_hook, 3e-3),
        (default_hooks.bf16_compress_hook, 3e-2),
        (default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook), 3e-3),
        (default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook), 3e-2),
    ]
    for (hook, tolerance), way in zip(hooks, [*WAYS, {}]):
        one, own = model(), model()
        ddp = DDP(own, **way)
        ddp.register_comm_hook(None, hook)
        x, y = batch()
        F.mse_loss(one(x), y).backward()
        F.mse_loss(ddp(part(x)), part(y)).backward()
        grads_close(own, one, tolerance)
        try:
            ddp.register_comm_hook(None, hook)
        except RuntimeError as error:
            assert "only be called once" in str(error)
        else:
            raise AssertionError("no error")


def check_complex_and_half_parameters() -> None:
    for dtype in (ad.complex128, ad.bfloat16, ad.float16):
        p = nn.Module()
        p.first, p.second = nn.Parameter(ad.ones(3, dtype=dtype)), nn.Parameter(ad.ones(2))
        p.forward = lambda x, p=p: (p.first * x).sum().abs() + p.second.sum()
        ddp = DDP(p)
        ddp(ad.full((3,), R + 1.0).to(dtype)).backward()
        assert ad.allclose(p.first.grad, ad.full((3,), (K + 1) / 2).to(dtype), rtol=1e-2), p.first.grad


def check_module_protocol() -> None:
    ddp = DDP(model())
    assert all(name.startswith("module.") for name in ddp.state_dict()) and isinstance(ddp.module, nn.Sequential)
    state = copy.deepcopy(ddp.state_dict())
    ddp.load_state_dict(state)
    with ad.no_grad():
        assert not ddp(part(batch()[0])).requires_grad
    for wrong, part_of_message in (({"device_ids": [0]}, "device_ids"),):
        try:
            DDP(model(), **wrong)
        except ValueError as error:
            assert part_of_message in str(error)
        else:
            raise AssertionError("no error")
    try:
        DDP(nn.Linear(2, 3 + R))
    except RuntimeError as error:
        assert "rank 0 has 2, rank 1 has 2" in str(error) and "(3, 2)" in str(error) and "(4, 2)" in str(error), error
    else:
        raise AssertionError("no error")
    try:
        DDP(nn.ReLU())
    except RuntimeError as error:
        assert "doesn't have any parameters" in str(error)
    else:
        raise AssertionError("no error")


def check_uneven_inputs() -> None:
    """Rank R has R + 2 inputs. A step in which n ranks take part divides by K, or by n."""
    for divide in (True, False):
        for way in WAYS:
            one, own = model(), model()
            ddp = DDP(own, **way)
            opt, opt_one = ad.optim.SGD(ddp.parameters(), lr=0.05), ad.optim.SGD(one.parameters(), lr=0.05)
            with ddp.join(divide_by_initial_world_size=divide):
                for step in range(R + 2):
                    x, y = batch(step)
                    opt.zero_grad()
                    F.mse_loss(ddp(part(x)), part(y)).backward()
                    opt.step()
            for step in range(K + 1):
                x, y = batch(step)
                able = [r for r in range(K) if step < r + 2]
                losses = [F.mse_loss(one(x[4 * r : 4 * r + 4]), y[4 * r : 4 * r + 4]) for r in able]
                opt_one.zero_grad()
                (sum(losses) / (K if divide else len(able))).backward()
                opt_one.step()
            close(own, one)
            # after the block all is as before
            x, y = batch(9)
            one.zero_grad(), own.zero_grad()
            F.mse_loss(one(x), y).backward()
            F.mse_loss(ddp(part(x)), part(y)).backward()
            grads_close(own, one)


def check_join_with_buffers_and_an_end() -> None:
    ddp = DDP(nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3)).to(ad.float64))
    with Join([ddp]):
        for step in range(R + 1):
            ddp(part(batch(step)[0])).sum().backward()
    means: list[Any] = [None] * K
    dist.all_gather_object(means, ddp.module[1].running_mean)
    assert all(ad.equal(means[0], m) for m in means)
    try:
        with ddp.join(throw_on_early_termination=True):
            for step in range(R + 1):
                ddp(part(batch(step)[0])).sum().backward()
    except RuntimeError as error:
        assert ("Rank 0 exhausted" if R == 0 else "at least one rank") in str(error)
    else:
        raise AssertionError("no error")


def check_sharded_optimizer() -> None:
    for kind, options in ((ad.optim.Adam, {"lr": 0.01}), (ad.optim.SGD, {"lr": 0.1, "momentum": 0.9})):
        one, own = model(), model()
        ddp = DDP(own)
        plain, zero = kind(one.parameters(), **options), ZeroRedundancyOptimizer(ddp.parameters(), kind, **options)
        schedules = [ad.optim.lr_scheduler.StepLR(o, 2, 0.5) for o in (plain, zero)]
        for step in range(4):
            x, y = batch(step)
            for m, (a, b), opt, schedule in ((one, (x, y), plain, schedules[0]), (ddp, (part(x), part(y)), zero, schedules[1])):
                opt.zero_grad()
                F.mse_loss(m(a), b).backward()
                opt.step()
                schedule.step()
        close(own, one)
        kept: list[Any] = [None] * K
        dist.all_gather_object(kept, len(zero.state))
        assert sum(kept) == 6 and max(kept) < 6, kept
        zero.consolidate_state_dict(to=1)
        states: list[Any] = [zero.state_dict() if R == 1 else None]
        try:
            zero.state_dict()
        except RuntimeError as error:
            assert R != 1 and "has not been consolidated" in str(error)
        dist.broadcast_object_list(states, 1)
        expected = plain.state_dict()
        assert sorted(states[0]["state"]) == sorted(expected["state"])
        for n, values in expected["state"].items():
            assert all(
                ad.allclose(ad.as_tensor(v).double(), ad.as_tensor(states[0]["state"][n][k]).double())
                for k, v in values.items()
                if v is not None
            )
        again = ZeroRedundancyOptimizer(ddp.parameters(), kind, **options)
        again.load_state_dict(states[0])
        plain.load_state_dict(states[0])
        x, y = batch(7)
        for m, (a, b), opt in ((one, (x, y), plain), (ddp, (part(x), part(y)), again)):
            opt.zero_grad()
            F.mse_loss(m(a), b).backward()
            opt.step()
        close(own, one)


def check_sharded_optimizer_with_uneven_inputs() -> None:
    one, own = model(), model()
    ddp = DDP(own)
    zero, plain = ZeroRedundancyOptimizer(ddp.parameters(), ad.optim.Adam, lr=0.01), ad.optim.Adam(one.parameters(), lr=0.01)
    with Join([ddp, zero]):
        for step in range(R + 1):
            x, y = batch(step)
            zero.zero_grad()
            F.mse_loss(ddp(part(x)), part(y)).backward()
            zero.step()
    for step in range(K):
        x, y = batch(step)
        plain.zero_grad()
        sum(F.mse_loss(one(x[4 * r : 4 * r + 4]), y[4 * r : 4 * r + 4]) / K for r in range(K) if step < r + 1).backward()
        plain.step()
    close(own, one)


def check_sampler() -> None:
    data = list(range(11))
    for drop in (False, True):
        sampler = DistributedSampler(data, drop_last=drop)
        orders = []
        for epoch in range(2):
            sampler.set_epoch(epoch)
            every: list[Any] = [None] * K
            dist.all_gather_object(every, list(sampler))
            assert {len(e) for e in every} == {len(sampler)}
            visited = [i for e in every for i in e]
            assert (set(visited) == set(data)) if not drop else (len(set(visited)) == len(visited) == 11 // K * K)
            orders.append(every)
        assert orders[0] != orders[1]


if __name__ == "__main__":
    run(globals())
