"""Dropout as one operation: what it keeps, its derivatives, and the same mask in every way it is made."""

import pytest

import adjoint as ad

dropout = ad.nn.functional.dropout


def drawn(x, p=0.3, call=dropout):
    ad.manual_seed(7)
    return call(x, p)


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.bfloat16, ad.complex64], ids=lambda t: t.name)
def test_elements_are_scaled_or_zero(dtype):
    x = ad.ones(40, 50, dtype=dtype)
    y = drawn(x)
    kept = y != 0
    assert 0.65 < kept.double().mean() < 0.75
    assert ad.equal(y[kept], (x / 0.7)[kept])


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64], ids=lambda t: t.name)
def test_one_mask_for_dense_strided_and_batched_operands(dtype):
    x = ad.arange(1.0, 13.0, dtype=dtype).view(3, 4)
    y = drawn(x)
    strided = ad.stack([x, x], -1)[..., 0]
    assert not strided.is_contiguous() and ad.equal(drawn(strided), y)
    assert ad.equal(drawn(x, call=lambda x, p: ad.vmap(lambda r: dropout(r, p), randomness="different")(x)), y)
    _, tangent = drawn(x, call=lambda x, p: ad.func.jvp(lambda x: dropout(x, p), (x,), (x,)))
    assert ad.equal(tangent, y)


def test_derivatives_use_the_mask():
    x = ad.arange(1.0, 201.0, dtype=ad.float64, requires_grad=True)
    y = drawn(x)
    (g,) = ad.autograd.grad((y * y).sum(), x, create_graph=True)
    scale = (y / x).detach()
    ad.testing.assert_close(g, 2 * x * scale**2)
    (h,) = ad.autograd.grad(g.sum(), x)
    ad.testing.assert_close(h, 2 * scale**2)


def test_what_backward_keeps_is_a_byte_an_element():
    y = drawn(ad.ones(100, requires_grad=True))
    kept = []
    with ad.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        y = drawn(ad.ones(100, requires_grad=True))
    assert [t.dtype for t in kept] == [ad.bool] and y.requires_grad


def test_not_a_number_and_infinity():
    assert drawn(ad.full((100,), float("inf"))).isnan().any()
