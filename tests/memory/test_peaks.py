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
    v.fill_(2.0)
    y = ad.zeros(1000, 1000)
    y.diagonal()[:] = x
    y.backward(v)
    x.grad.add_(1.0)
    assert (v == 2.0).all()  # the gradient is no view of it


def test_cotangents_that_meet_take_no_third_memory():
    x, v = ad.ones(1000, 1000, requires_grad=True), [ad.ones(1000, 500), ad.ones(1000, 500)]
    assert peak(lambda: ad.autograd.grad(list(x.hsplit(2)), x, v)) < 2.1 * x.nbytes


@pytest.mark.parametrize("product", ["addmm", "baddbmm"])
def test_what_is_added_to_a_product_is_added_in_its_memory(product):
    a = ad.ones(1000, 8) if product == "addmm" else ad.ones(1, 1000, 8)
    c = ad.ones(1, 1000, 1000) if product == "baddbmm" else ad.ones(1000, 1000)
    assert peak(lambda: getattr(ad, product)(c, a, a.mT)) < 1.1 * c.nbytes
    assert (c == 1.0).all()
