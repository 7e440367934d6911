"""Writes at positions of expanded memory, which PyTorch warns of: the same memory afterwards, whatever is written twice."""

import math
import random

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")


def run(m, seed):
    r = random.Random(seed)
    sizes = [r.randint(1, 3) for _ in range(r.randint(1, 3))]
    wide = [n if n > 1 or r.random() < 0.3 else r.randint(2, 3) for n in sizes]
    base = m.arange(math.prod(sizes)).reshape(sizes).float()
    x = base.expand(wide)
    mask = m.tensor([r.random() < 0.4 for _ in range(x.numel())]).reshape(wide)
    dim, count = r.randrange(x.ndim), r.randint(1, 3)
    rows = tuple(m.tensor([r.randrange(-n, n) for _ in range(count)]) for n in wide[: r.randint(1, x.ndim)])
    values = m.arange(count * math.prod(wide[len(rows) :])).reshape([count, *wide[len(rows) :]]).float() + 100
    how = r.choice(["mask", "fill", "put", "add", "assign", "assign mask", "assign last"])
    if how == "mask":
        x.masked_fill_(mask, 50.0)
    elif how == "fill":
        x.index_fill_(dim, m.tensor([r.randrange(-wide[dim], wide[dim]) for _ in range(r.randint(0, 2))], dtype=m.int64), 60)
    elif how in ("put", "add"):
        x.index_put_(rows, values, accumulate=how == "add")
    elif how == "assign":
        x[rows] = values
    elif how == "assign mask":
        x[mask] = 9.0
    else:
        x[..., m.tensor([0])] = 11.0
    return base.tolist()


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")
def test_random_writes():
    for seed in range(500):
        assert run(ad, seed) == run(torch, seed), seed
