"""How much memory calls need at most: counted by the allocator's own books."""

import pytest

import adjoint as ad
from adjoint_core import _core

F = ad.nn.functional
N = 1_000_000


def peak(call):
    """Bytes above what was there, the result's own included, of a second call."""
    call()
    before = _core._memory_stats()[0]
    _core._reset_peak_memory()
    result = call()
    highest = _core._memory_stats()[1]
    del result
    return highest - before


@pytest.mark.parametrize("numbers", [300_001, 530_000, 600_001, 1_000_000, 1_100_000])
def test_a_large_block_is_little_more_than_what_is_asked_for(numbers):
    x = ad.ones(numbers)
    assert peak(lambda: x + 1.0) <= 1.13 * x.nbytes
    if x.nbytes > 2 << 20:
        assert peak(lambda: x + 1.0) <= 1.04 * x.nbytes


def test_a_write_into_fresh_memory_does_not_copy_its_cotangent():
    x, v = ad.ones(1000, requires_grad=True), ad.ones(1000, 1000)
    assert peak(lambda: ad.autograd.grad(ad.diag_embed(x), x, v)) < 1.2 * v.nbytes


@pytest.mark.parametrize("write", ["setitem", "copy_", "add_", "view", "transposed"])
def test_the_cotangent_of_a_write_is_nobody_elses(write):
    x, y, w = ad.zeros(2, requires_grad=True), ad.zeros(2, 2), ad.zeros(2, 2, requires_grad=True)
    seen = w * 1.0
    x.register_hook(lambda g: g.mul_(3.0))
    {
        "setitem": lambda: y.__setitem__(0, x),
        "copy_": lambda: y[0].copy_(x),
        "add_": lambda: y[0].add_(x),
        "view": lambda: y.view(-1)[:2].copy_(x),
        "transposed": lambda: y.mT[0].copy_(x),
    }[write]()
    v = ad.ones(2, 2)
    g, h = ad.autograd.grad(y + seen, [x, w], v)
    assert (g == 3.0).all() and (h == 1.0).all() and (v == 1.0).all()
    g.zero_()
    assert (v == 1.0).all() and g._base is None


def test_blocks_of_many_sizes_are_used_again():
    """Kept blocks serve calls that need a little less: what a process keeps is what its books say."""
    _core._empty_cache()
    sizes = [600_000 + 7_919 * i % 700_000 for i in range(200)]
    before = _core._memory_stats()[2]
    for size in sizes:
        (ad.ones(size) + 1.0).sum()
    assert _core._memory_stats()[2] - before < 60e6
    assert _core._memory_stats()[0] >= 0


def test_cotangents_that_meet_take_no_third_memory():
    x, v = ad.ones(1000, 1000, requires_grad=True), [ad.ones(1000, 500), ad.ones(1000, 500)]
    assert peak(lambda: ad.autograd.grad(list(x.hsplit(2)), x, v)) < 2.1 * x.nbytes


@pytest.mark.parametrize("product", ["addmm", "baddbmm"])
@pytest.mark.parametrize("given", ["plain", "parameter", "transposed", "row"])
def test_what_is_added_to_a_product_is_added_in_its_memory(product, given):
    a = ad.ones(1000, 8) if product == "addmm" else ad.ones(1, 1000, 8)
    c = ad.ones(1000, 1000)
    c = {"plain": c, "parameter": ad.nn.Parameter(c), "transposed": c.mT, "row": c[0]}[given]
    with ad.no_grad():
        c = c if product == "addmm" else c.unsqueeze(0)
        assert given == "transposed" or peak(lambda: getattr(ad, product)(c, a, a.mT)) < 4.4e6
        assert getattr(ad, product)(c, a, a.mT).is_contiguous() and (c == 1.0).all()
