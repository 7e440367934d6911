"""Derivatives of collectives: those of k ranks against those of one process that computes for all of them.

`World` has the collectives of ranks as functions of plain lists. A program of all ranks, written once over an object with these
functions, runs over the processes (each its own rank) and over `World` in one process (all ranks at once).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _checks import equal, run

import adjoint as ad
import adjoint.distributed as dist
import adjoint.distributed.nn.functional as D

dist.init_process_group("mpi")
K, R = dist.get_world_size(), dist.get_rank()
Op = dist.ReduceOp
ROOT = K - 1


def over_ranks(xs: list[ad.Tensor], op: Any) -> ad.Tensor:
    s = ad.stack(xs)
    return {
        Op.SUM: lambda: s.sum(0),
        Op.AVG: lambda: s.mean(0),
        Op.PRODUCT: lambda: s.prod(0),
        Op.MIN: lambda: s.amin(0),
        Op.MAX: lambda: s.amax(0),
    }[op]()


def only(rank: int, xs: Any) -> Any:
    return [x if r == rank else ad.zeros_like(x) for r, x in enumerate(xs)]


# name: (of one rank with its tensor, of all ranks with their list). Each takes (3, 2) to whatever.
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{
        f"all_reduce_{op.name}": (lambda x, op=op: D.all_reduce(x, op), lambda xs, op=op: [over_ranks(xs, op)] * K)
        for op in (Op.SUM, Op.AVG, Op.PRODUCT, Op.MIN, Op.MAX)
    },
    **{
        f"reduce_{op.name}": (lambda x, op=op: D.reduce(x, ROOT, op), lambda xs, op=op: only(ROOT, [over_ranks(xs, op)] * K))
        for op in (Op.SUM, Op.PRODUCT)
    },
    "broadcast": (lambda x: D.broadcast(x, ROOT), lambda xs: [xs[ROOT]] * K),
    "all_gather": (lambda x: ad.cat(D.all_gather(x)), lambda xs: [ad.cat(xs)] * K),
    "gather": (lambda x: ad.cat(D.gather(x, ROOT)), lambda xs: only(ROOT, [ad.cat(xs)] * K)),
    "scatter": (
        lambda x: D.scatter([x * (i + 1) for i in range(K)], ROOT),
        lambda xs: [xs[ROOT] * (i + 1) for i in range(K)],
    ),
    "reduce_scatter": (
        lambda x: D.reduce_scatter(x, [x * (i + 1) for i in range(K)]),
        lambda xs: [over_ranks(xs, Op.SUM) * (i + 1) for i in range(K)],
    ),
    "reduce_scatter_MAX": (
        lambda x: D.reduce_scatter(x, [x * (i + 1) for i in range(K)], Op.MAX),
        lambda xs: [ad.stack([x * (i + 1) for x in xs]).amax(0) for i in range(K)],
    ),
    "all_to_all": (
        lambda x: ad.cat([y.reshape(-1) for y in D.all_to_all([x[: R + 1]] * K, [x[: i + 1] * (i + 1) for i in range(K)])]),
        lambda xs: [ad.cat([(x[: i + 1] * (i + 1)).reshape(-1) for x in xs]) for i in range(K)],
    ),
    "all_to_all_single": (
        lambda x: D.all_to_all_single(ad.cat([x[:1]] * K), ad.cat([x[:1] * (i + 1) for i in range(K)])),
        lambda xs: [ad.cat([x[:1] * (i + 1) for x in xs]) for i in range(K)],
    ),
}


def inputs(dtype: Any = ad.float64, *batch: int) -> list[ad.Tensor]:
    ad.manual_seed(5)
    return [ad.randn(*batch, 3, 2, dtype=dtype) for _ in range(K)]


def losses(f: Callable[..., Any], every: bool) -> Callable[..., Any]:
    """A loss that is no quadratic, different on each rank: of this rank, or the sum over ranks of all."""
    loss = lambda y, r: ((y * y).real.exp().sum() if y.is_complex() else y.sin().sum()) * (r + 1)  # noqa: E731
    return (
        (lambda xs: sum(loss(y, r) for r, y in enumerate(f([x * x for x in xs])))) if every else (lambda x: loss(f(x * x), R))
    )


def check_values_and_gradients() -> None:
    for name, (own, every) in CASES.items():
        for dtype in (ad.float64, ad.float32, ad.complex128):
            if dtype.is_complex and name.endswith(("MIN", "MAX")):
                continue
            xs = [x.requires_grad_() for x in inputs(dtype)]
            x = xs[R].detach().requires_grad_()
            equal(own(x).detach(), every(xs)[R].detach(), rtol=1e-5)
            (g,) = ad.autograd.grad(losses(own, False)(x), x)
            expected = ad.autograd.grad(losses(every, True)(xs), xs, materialize_grads=True)[R]
            equal(g, expected, rtol=1e-4, atol=1e-5)


def check_second_derivatives() -> None:
    """Of the sum over ranks: the Hessian times the vectors of all ranks."""
    for own, every in CASES.values():
        xs, vs = [x.requires_grad_() for x in inputs()], inputs()[::-1]
        x = xs[R].detach().requires_grad_()
        (g,) = ad.autograd.grad(losses(own, False)(x), x, create_graph=True)
        (h,) = ad.autograd.grad((g * vs[R]).sum(), x)
        gs = ad.autograd.grad(losses(every, True)(xs), xs, create_graph=True, materialize_grads=True)
        hs = ad.autograd.grad(sum((g * v).sum() for g, v in zip(gs, vs)), xs, materialize_grads=True)
        equal(h, hs[R], rtol=1e-9, atol=1e-9)
        # forward over reverse is the same
        _, h = ad.func.jvp(ad.func.grad(losses(own, False)), (x.detach(),), (vs[R],))
        equal(h, hs[R], rtol=1e-9, atol=1e-9)


def check_forward_mode() -> None:
    for name, (own, every) in CASES.items():
        for dtype in (ad.float64, ad.complex128):
            if dtype.is_complex and name.endswith(("MIN", "MAX")):
                continue
            xs, vs = inputs(dtype), inputs(dtype)[::-1]
            y, t = ad.func.jvp(own, (xs[R],), (vs[R],))
            expected, tangents = ad.func.jvp(lambda *xs: tuple(every(list(xs))), tuple(xs), tuple(vs))
            equal(y, expected[R], rtol=1e-9)
            equal(t, tangents[R], rtol=1e-9, atol=1e-12)
            # the second derivative along the same direction, forward over forward
            along = lambda s, f=own, x=xs[R], v=vs[R]: ad.func.jvp(f, (x * s,), (v,))[1]  # noqa: E731
            _, tt = ad.func.jvp(along, (ad.ones((), dtype=dtype),), (ad.ones((), dtype=dtype),))
            all_along = lambda s: ad.func.jvp(lambda *xs: tuple(every(list(xs))), tuple(x * s for x in xs), tuple(vs))[1]  # noqa: E731, B023
            _, tts = ad.func.jvp(all_along, (ad.ones((), dtype=dtype),), (ad.ones((), dtype=dtype),))
            equal(tt, tts[R], rtol=1e-9, atol=1e-12)


def check_batches() -> None:
    for own, every in CASES.values():
        xs = inputs(ad.float64, 4)
        lanes = [every([x[i] for x in xs])[R] for i in range(4)]
        equal(ad.vmap(own)(xs[R]), ad.stack(lanes), rtol=1e-9)
        moved = xs[R].movedim(0, 1)
        equal(ad.vmap(own, 1, 1)(moved), ad.stack(lanes, 1), rtol=1e-9)
        nested = ad.vmap(ad.vmap(own))(xs[R].reshape(2, 2, 3, 2))
        equal(nested.reshape(4, *lanes[0].shape), ad.stack(lanes), rtol=1e-9)
        g = ad.vmap(ad.func.grad(losses(own, False)))(xs[R])
        expected = [
            ad.func.grad(lambda *a: losses(every, True)(list(a)), tuple(range(K)))(*[x[i] for x in xs])[R] for i in range(4)
        ]  # noqa: B023
        equal(g, ad.stack(expected), rtol=1e-8, atol=1e-9)


def check_a_gradient_of_a_gradient_penalty_over_ranks() -> None:
    """Parameters shared by all ranks, data split: gradients summed over ranks are those of one process."""
    ad.manual_seed(1)
    data, w = ad.randn(6 * K, 4, dtype=ad.float64), ad.randn(4, dtype=ad.float64)

    def penalised(w: ad.Tensor, total: Any, rows: ad.Tensor) -> ad.Tensor:
        loss = total((rows @ w).tanh().square().sum())
        return loss + 0.1 * ad.autograd.grad(loss, w, create_graph=True)[0].square().sum()

    one = w.clone().requires_grad_()
    penalised(one, lambda x: x, data).backward()
    # every rank holds w; what it stands for in the whole is one w that is broadcast
    own = w.clone().requires_grad_()
    shared = D.broadcast(own, 0)
    loss = D.all_reduce((data[6 * R : 6 * R + 6] @ shared).tanh().square().sum())
    (g,) = ad.autograd.grad(loss if R == 0 else loss * 0, own, create_graph=True)
    whole = loss + 0.1 * g.square().sum()
    (whole if R == 0 else whole * 0).backward()
    equal(own.grad, one.grad if R == 0 else ad.zeros_like(w), rtol=1e-9, atol=1e-12)


def check_gradcheck() -> None:
    """Of a function of this rank alone: what others do with its input is in the derivative, and in nothing that it can see."""
    x = inputs()[0].requires_grad_()
    own = dist.new_subgroups(1)[0]
    for f in (lambda x: D.all_reduce(x, group=own), lambda x: ad.stack(D.all_gather(x, own))):
        assert ad.autograd.gradcheck(f, x, check_forward_ad=True, check_batched_grad=True)
        assert ad.autograd.gradgradcheck(f, x)


def check_whole_numbers() -> None:
    assert D.all_reduce(ad.tensor([R + 1]), Op.BOR).item() == (3 if K < 4 else 7) if K > 1 else 1
    assert D.all_reduce(ad.tensor([R]), Op.MAX).item() == K - 1


if __name__ == "__main__":
    run(globals())
