"""Writes at positions that come several times: sums in one order, and the last of what is written stays."""

import pytest
from device_checks import agree

import adjoint as ad

SIZES = [
    (1100, 2, 20),
    (7, 140, 60),
    (1, 5, 40),
    (5, 1, 3),
]  # rows, their length, positions: few rows are summed alone, many in turns


def positions(n, m):
    return (ad.arange(m) * 7919 % max(n // 2, 1)) - (ad.arange(m) % 3 == 0) * n // 3


@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.int16, ad.complex64], ids=lambda t: t.name)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_several_writes(sizes, dtype):
    n, width, m = sizes
    x, index = (ad.arange(n * width) % 11).view(n, width).to(dtype), positions(n, m)
    source = (ad.arange(m * width) % 5 - 2).view(m, width).to(dtype)

    def run(x, index, source):
        each = index[:, None].expand(m, width).remainder(n)
        return (
            x.index_add(0, index.remainder(n), source),
            x.index_put((index,), source, accumulate=True),
            x.index_put((index,), source),
            x.index_copy(0, index.remainder(n), source),
            x.scatter(0, each, source),
            x.t().contiguous().index_add(1, index.remainder(n), source.t()),
        )

    agree(run(x.cuda(), index.cuda(), source.cuda()), run(x, index, source), dtype)


@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.int64, ad.complex64], ids=lambda t: t.name)
@pytest.mark.parametrize(("sizes", "n"), [((1, 700), 3), ((2, 30), 1030), ((20, 3), 5), ((12, 40), 9)], ids=str)
def test_sums_with_a_position_each(sizes, n, dtype):
    index = (ad.arange(sizes[0] * sizes[1]) * 7919 % n).view(sizes)
    source = (ad.arange(sizes[0] * sizes[1]) % 7 - 2).view(sizes).to(dtype)

    def run(index, source):
        x = ad.ones(sizes[0], n, dtype=dtype, device=source.device)
        return x.scatter_add(1, index, source), x.t().contiguous().scatter_add(0, index.t(), source.t())

    agree(run(index.cuda(), source.cuda()), run(index, source), dtype)
