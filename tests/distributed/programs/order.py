"""Sums in a fixed tree: the same bits in every run, those of the tree written out."""

from __future__ import annotations

from _checks import run

import adjoint as ad
import adjoint.distributed as dist

dist.init_process_group("mpi")
K, R = dist.get_world_size(), dist.get_rank()


def of_rank(rank: int, dtype: ad.dtype, n: int = 1001) -> ad.Tensor:
    """Numbers of very different size, whose sum depends on the order."""
    ad.manual_seed(50 + rank)
    return (ad.randn(n, dtype=ad.float64) * 10 ** ad.randint(-4, 4, (n,)).double()).to(dtype)


def tree(xs: list[ad.Tensor]) -> ad.Tensor:
    while len(xs) > 1:
        xs = [xs[i] + xs[i + 1] if i + 1 < len(xs) else xs[i] for i in range(0, len(xs), 2)]
    return xs[0]


def bits(t: ad.Tensor) -> ad.Tensor:
    return t.view({2: ad.int16, 4: ad.int32, 8: ad.int64}[t.element_size()])


def check_bits() -> None:
    dist.set_fixed_order(True)
    assert dist.is_fixed_order()
    for dtype in (ad.float16, ad.bfloat16, ad.float32, ad.float64):
        xs = [of_rank(r, dtype) for r in range(K)]
        wide = [x.float() for x in xs] if dtype.itemsize == 2 else xs
        expected = tree(wide).to(dtype)
        for _ in range(5):
            own = xs[R].clone()
            dist.all_reduce(own)
            assert ad.equal(bits(own), bits(expected))
        own = xs[R].clone()
        dist.reduce(own, 1)
        assert ad.equal(bits(own), bits(expected if R == 1 else xs[R]))
        pieces = [of_rank(r, dtype, 7 * K) for r in range(K)]
        part = ad.zeros(7, dtype=dtype)
        dist.reduce_scatter_tensor(part, pieces[R])
        wide = [p.float() for p in pieces] if dtype.itemsize == 2 else pieces
        assert ad.equal(bits(part), bits(tree(wide).to(dtype)[7 * R : 7 * R + 7]))
        # the bits do not depend on how the elements are cut into messages
        halves = [x.clone() for x in xs[R].split(500)]
        [dist.all_reduce(h) for h in halves]
        assert ad.equal(bits(ad.cat(halves)), bits(expected))


def check_training() -> None:
    """A training run has the same parameters, to the bit, as this program's next run: the test compares what is printed."""
    ad.manual_seed(0)
    model = ad.nn.parallel.DistributedDataParallel(ad.nn.Sequential(ad.nn.Linear(9, 30), ad.nn.Tanh(), ad.nn.Linear(30, 1)))
    optimizer = ad.optim.Adam(model.parameters(), lr=0.05)
    for step in range(10):
        ad.manual_seed(1000 * R + step)
        optimizer.zero_grad()
        model(ad.randn(8, 9)).square().sum().backward()
        optimizer.step()
    total = [int(bits(p).to(ad.int64).sum().item()) for p in model.parameters()]
    everybody = [None] * K
    dist.all_gather_object(everybody, total)
    assert all(e == total for e in everybody)
    if R == 0:
        print("parameters", total)


if __name__ == "__main__":
    run(globals())
