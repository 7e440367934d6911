"""Every collective, element type and layout against what one process computes from the inputs of all ranks."""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any

from _checks import equal, run

import adjoint as ad
import adjoint.distributed as dist

dist.init_process_group("mpi")
K, R = dist.get_world_size(), dist.get_rank()
Op = dist.ReduceOp
FLOATS = [ad.float16, ad.bfloat16, ad.float32, ad.float64]
COMPLEX = [ad.complex64, ad.complex128]
WHOLE = [ad.int8, ad.int16, ad.int32, ad.int64, ad.uint8, ad.uint16, ad.uint32, ad.uint64]
ALL = [*FLOATS, *COMPLEX, *WHOLE, ad.bool]


def of_rank(rank: int, dtype: Any, *shape: int) -> ad.Tensor:
    """What a rank gives: small whole numbers, whose sums and products are exact in every type."""
    n = 1
    for s in shape:
        n *= s
    x = ((ad.arange(n) * 7 + rank * 5) % 3 + (rank + ad.arange(n)) % 2).reshape(shape)
    if dtype == ad.bool:
        return x % 2 == 0
    return x.to(dtype) * (1 + 1j) if dtype.is_complex else x.to(dtype)


def layouts(t: ad.Tensor) -> list[ad.Tensor]:
    """The same values without gaps, transposed, as every second element, as a slice of something longer."""
    wide = ad.zeros((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype)
    spread = wide[..., ::2]
    spread.copy_(t)
    flipped = t.t().contiguous().t()
    longer = ad.cat([t, t])[: len(t)]
    return [t.clone(), flipped, spread, longer]


PAIRWISE = {
    Op.SUM: lambda a, b: a | b if a.dtype == ad.bool else a + b,
    Op.PRODUCT: lambda a, b: a & b if a.dtype == ad.bool else a * b,
    Op.MIN: lambda a, b: a & b if a.dtype == ad.bool else ad.minimum(a, b),
    Op.MAX: lambda a, b: a | b if a.dtype == ad.bool else ad.maximum(a, b),
    Op.BAND: lambda a, b: a & b,
    Op.BOR: lambda a, b: a | b,
    Op.BXOR: lambda a, b: a ^ b,
}
BITS = (Op.BAND, Op.BOR, Op.BXOR)


def ops_of(dtype: Any) -> list[Any]:
    if dtype.is_complex:
        return [Op.SUM, Op.PRODUCT]
    return [op for op in PAIRWISE if op not in BITS or not dtype.is_floating_point]


def reduced(xs: list[ad.Tensor], op: Any) -> ad.Tensor:
    if op is Op.AVG:
        return reduced(xs, Op.SUM) / K
    wide = [x.to(ad.int64) if x.dtype in WHOLE else x for x in xs]  # core has no min and bits of some unsigned types
    return reduce(PAIRWISE[op], wide).to(xs[0].dtype)


def check_reductions() -> None:
    for dtype in ALL:
        for op in ops_of(dtype):
            xs = [of_rank(r, dtype, 3, 4) for r in range(K)]
            expected = reduced(xs, op)
            for own in layouts(xs[R]):
                version = own._version
                assert dist.all_reduce(own, op) is None
                equal(own, expected)
                assert own._version > version
            kept = xs[R].clone()
            dist.reduce(kept, K - 1, op)
            equal(kept, expected if R == K - 1 else xs[R])
            pieces = [ad.cat([of_rank(r + j, dtype, 1, 2) for j in range(K)]) for r in range(K)]
            own = ad.zeros(2, dtype=dtype)
            dist.reduce_scatter_tensor(own, pieces[R], op)
            equal(own, reduced(pieces, op)[R])
            listed = ad.zeros(2, dtype=dtype)
            dist.reduce_scatter(listed, list(pieces[R].unbind()), op)
            equal(listed, own)


def check_averages() -> None:
    for dtype in [*FLOATS, *COMPLEX]:
        x = of_rank(R, dtype, 5)
        dist.all_reduce(x, Op.AVG)
        equal(x, reduced([of_rank(r, dtype, 5) for r in range(K)], Op.AVG), rtol=1e-3)


def check_sums_that_round() -> None:
    """Half precision is summed as numbers: bytes or integers would give something else altogether."""
    for dtype in (ad.float16, ad.bfloat16):
        x = ad.full((1000,), 0.1 * (R + 1)).to(dtype)
        dist.all_reduce(x)
        assert ad.allclose(x.float(), ad.full((1000,), 0.1 * K * (K + 1) / 2), rtol=0.02)
        x = ad.tensor([float("inf"), float("nan"), -0.0]).to(dtype)
        dist.all_reduce(x)
        assert x[0].isinf() and x[1].isnan() and x[2] == 0


def check_moves() -> None:
    for dtype, root in itertools.product(ALL, range(K)):
        for own in layouts(of_rank(R, dtype, 2, 3)):
            dist.broadcast(own, root)
            equal(own, of_rank(root, dtype, 2, 3))
        every = [of_rank(r, dtype, 2, 3) for r in range(K)]
        for own in layouts(every[R]):
            got = [layouts(ad.zeros(2, 3, dtype=dtype))[r % 4] for r in range(K)]
            dist.all_gather(got, own)
            [equal(a, b) for a, b in zip(got, every)]
            got = [ad.zeros(2, 3, dtype=dtype) for _ in range(K)]
            dist.gather(own, got if R == root else None, root)
            [equal(a, b if R == root else ad.zeros_like(b)) for a, b in zip(got, every)]
            mine = layouts(ad.zeros(2, 3, dtype=dtype))[R % 4]
            dist.scatter(mine, [own + own if dtype != ad.bool else own] * K if R == root else None, root)
            equal(mine, every[root] + every[root] if dtype != ad.bool else every[root])
        whole = ad.zeros(2 * K, 3, dtype=dtype)
        dist.all_gather_into_tensor(whole, every[R])
        equal(whole, ad.cat(every))


def check_all_to_all() -> None:
    for dtype in ALL:
        sent = [of_rank(R + 3 * j, dtype, j + 1, 2) for j in range(K)]
        got = [ad.zeros(R + 1, 2, dtype=dtype) for _ in range(K)]
        dist.all_to_all(got, sent)
        [equal(got[r], of_rank(r + 3 * R, dtype, R + 1, 2)) for r in range(K)]
        out = ad.zeros(K * (R + 1), 2, dtype=dtype)
        dist.all_to_all_single(out, ad.cat(sent), [R + 1] * K, [j + 1 for j in range(K)])
        equal(out, ad.cat(got))
        even = ad.zeros(2 * K, dtype=dtype)
        dist.all_to_all_single(even, of_rank(R, dtype, 2 * K))
        equal(even, ad.cat([of_rank(r, dtype, 2 * K)[2 * R : 2 * R + 2] for r in range(K)]))


def check_pieces_that_do_not_fit() -> None:
    """In the debug mode all ranks are told who sends what to whom."""
    before = dist.get_debug_level()
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    sizes = [1] * K
    wrong = [2, *[0] * (K - 1)] if R == K - 1 else [1] * K
    wrong[-1] += K - sum(wrong)
    try:
        dist.all_to_all_single(ad.empty(K), ad.ones(K), sizes, wrong)
    except dist.DistBackendError as error:
        assert f"rank {K - 1} sends 2 elements to rank 0, which expects 1" in str(error), error
    else:
        assert K == 1
    finally:
        dist.set_debug_level(before)


def check_empty_and_0d() -> None:
    x = ad.tensor(R + 1.0)
    dist.all_reduce(x)
    assert x.item() == K * (K + 1) / 2
    for t in (ad.zeros(0), ad.zeros(3, 0)):
        dist.all_reduce(t)
        dist.broadcast(t, 0)
        dist.all_gather([ad.zeros_like(t) for _ in range(K)], t)


def check_async() -> None:
    xs = [ad.full((100,), float(R + i)) for i in range(20)]
    works = [dist.all_reduce(x, async_op=True) for x in xs]
    for i, (x, work) in reversed(list(enumerate(zip(xs, works)))):
        assert work.wait() is True and work.is_completed() and work.is_success() and work.exception() is None
        assert x[0] == K * (K - 1) / 2 + K * i and work.result()[0] is x
    doubled = dist.all_reduce(ad.ones(3), async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    assert doubled.wait().tolist() == [2.0 * K] * 3
    gathered = [ad.zeros(2, 2).t() for _ in range(K)]
    dist.all_gather(gathered, ad.full((2, 2), float(R)), async_op=True).wait()
    assert [g[0, 0].item() for g in gathered] == list(range(K))
    assert dist.barrier(async_op=True).wait()


def check_messages() -> None:
    for dtype in ALL:
        got, own = layouts(ad.zeros(3, 2, dtype=dtype))[R % 4], layouts(of_rank(R, dtype, 3, 2))[(R + 1) % 4]
        works = [dist.irecv(got, (R - 1) % K), dist.isend(own, (R + 1) % K)]
        [work.wait() for work in works]
        equal(got.contiguous(), of_rank((R - 1) % K, dtype, 3, 2))
        assert works[0].source_rank() == (R - 1) % K
    x = ad.full((100000,), float(R))
    if R == 0:
        sources = [dist.recv(x) for _ in range(K - 1)]
        assert sorted(sources) == list(range(1, K))
    else:
        dist.send(x, 0)
    dist.barrier()
    for tag in (1, 2):  # by tag, not by order
        if R == 0:
            dist.isend(ad.full((1,), float(tag)), 1, tag=tag).wait()
    if R == 1:
        two, one = ad.zeros(1), ad.zeros(1)
        dist.recv(two, 0, tag=2), dist.recv(one, 0, tag=1)
        assert (one.item(), two.item()) == (1, 2)
    got = ad.zeros(1)
    ops = [dist.P2POp(dist.isend, ad.full((1,), float(R)), (R + 1) % K), dist.P2POp(dist.irecv, got, (R - 1) % K)]
    [work.wait() for work in dist.batch_isend_irecv(ops)]
    assert got.item() == (R - 1) % K
    # a message while a collective is under way, which the receiver joins only afterwards
    if R == 0:
        work = dist.all_reduce(x, async_op=True)
        dist.send(ad.ones(1), 1)
        work.wait()
    else:
        if R == 1:
            dist.recv(got, 0)
        dist.all_reduce(x)
    dist.monitored_barrier()


def check_wrong_sizes_of_messages() -> None:
    if R == 0:
        dist.send(ad.ones(2), 1)
    if R == 1:
        try:
            dist.recv(ad.zeros(3), 0)
        except dist.DistBackendError as error:
            assert "rank 0 sent 2 elements, got a tensor of 3" in str(error), error
        else:
            raise AssertionError("no error")


def check_objects() -> None:
    everybody: list[Any] = [None] * K
    dist.all_gather_object(everybody, {"rank": R, "text": "x" * 100 * R, "tensor": ad.full((R,), 1.0)})
    assert [e["rank"] for e in everybody] == list(range(K)) and [len(e["text"]) for e in everybody] == [
        100 * r for r in range(K)
    ]
    assert everybody[-1]["tensor"].tolist() == [1.0] * (K - 1)
    items = [R, "a", [R]] if R == 1 else [None] * 3
    dist.broadcast_object_list(items, 1)
    assert items == [1, "a", [1]]
    got = [None] * K if R == 1 else None
    dist.gather_object((R, None), got, 1)
    assert got == ([(r, None) for r in range(K)] if R == 1 else None)
    one: list[Any] = [None]
    dist.scatter_object_list(one, [{"to": r} for r in range(K)] if R == 0 else None)
    assert one == [{"to": R}]
    if R == 0:
        dist.send_object_list(["hello", 3], 1)
    elif R == 1:
        came: list[Any] = [None, None]
        assert dist.recv_object_list(came) == 0 and came == ["hello", 3]


def check_groups() -> None:
    assert dist.is_initialized() and dist.group.WORLD.size() == K and dist.get_backend() == "mpi"
    ends = dist.new_group([0, K - 1])
    x = ad.full((2,), float(R))
    if K == 1 or R in (0, K - 1):
        dist.all_reduce(x, group=ends)
        assert x[0] == K - 1 and dist.get_process_group_ranks(ends) == [0, K - 1]
        assert dist.get_rank(ends) == dist.get_group_rank(ends, R) and dist.get_global_rank(ends, dist.get_rank(ends)) == R
        y = ad.full((2,), float(R))
        dist.broadcast(y, K - 1, group=ends)  # src is a rank of the world
        assert y[0] == K - 1
        dist.broadcast(y.fill_(R), group=ends, group_src=0)
        assert y[0] == 0
    else:
        assert ends is dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(ends) == -1 and dist.get_world_size(ends) == -1
        assert dist.all_reduce(x, group=ends) is None and x[0] == R
    own, every = dist.new_subgroups(1)
    assert own.size() == 1 and len(every) == K
    # collectives of two groups under way at once, begun in different order
    first, second = dist.new_group(), dist.new_group()
    pair = [(first, ad.ones(1000)), (second, ad.ones(1000) * 2)]
    works = [dist.all_reduce(t, group=g, async_op=True) for g, t in (pair if R % 2 else pair[::-1])]
    [work.wait() for work in works]
    assert pair[0][1][0] == K and pair[1][1][0] == 2 * K
    dist.destroy_process_group(first)


def raises(kind: type[Exception], part: str, call: Any) -> None:
    try:
        call()
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"no error with {part!r}")


def check_bad_input() -> None:
    x = ad.ones(2)
    raises(TypeError, "tensor is needed", lambda: dist.all_reduce([1.0]))
    raises(TypeError, "ReduceOp", lambda: dist.all_reduce(x, "sum"))
    raises(ValueError, "not defined", lambda: dist.all_reduce(x.long(), Op.AVG))
    raises(ValueError, "not defined", lambda: dist.all_reduce(x + 1j, Op.MAX))
    raises(ValueError, "not defined", lambda: dist.all_reduce(x, Op.BXOR))
    raises(ValueError, "dense tensors", lambda: dist.all_reduce(x.to_sparse()))
    raises(ValueError, "nn.functional", lambda: ad.vmap(lambda x: dist.all_reduce(x) or x)(x))
    raises(ValueError, "not part of group", lambda: dist.broadcast(x, K))
    raises(ValueError, "either a rank", lambda: dist.broadcast(x))
    raises(ValueError, "each of", lambda: dist.all_gather([x] * (K + 1), x))
    raises(ValueError, "elements are needed", lambda: dist.all_gather([ad.ones(3)] * K, x))
    raises(ValueError, "elements of", lambda: dist.all_gather_into_tensor(x[:1], x))
    raises(ValueError, "divide", lambda: dist.all_to_all_single(ad.ones(2 * K + 1), ad.ones(2 * K + 1)))
    raises(ValueError, "add up", lambda: dist.all_to_all_single(x, x, [1] * K, [3] * K))
    raises(ValueError, "should not be the same as the rank of the current process", lambda: dist.send(x, R))
    raises(ValueError, "twice", lambda: dist.init_process_group("mpi"))
    raises(ValueError, "must be different", lambda: dist.new_group([0, 0]))
    raises(TypeError, "process group", lambda: dist.all_reduce(x, group=3))


if __name__ == "__main__":
    run(globals())
