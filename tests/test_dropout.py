"""Dropout as one operation: what it keeps, its derivatives, and the same mask in every way it is made."""

import inspect

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


def parameters(f):
    try:
        return inspect.signature(f).parameters
    except (TypeError, ValueError):  # no function, or one in C++ without a signature
        return {}


IN_PLACE = [name for name, f in vars(ad.nn.functional).items() if "inplace" in parameters(f)]


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.float16], ids=lambda t: t.name)
def test_in_place_writes_into_its_input_of_any_type(name, dtype):
    f = getattr(ad.nn.functional, name)
    x = ad.randn(2, 4, *[3] * {"1d": 1, "2d": 2, "3d": 3}.get(name[-2:], 1)).to(dtype)
    numbers = {"threshold": (0.5, 0.25)}.get(name, ())
    training = {"training": True} if "training" in parameters(f) else {}
    y = f(x, *numbers, inplace=True, **training)
    assert y.dtype == dtype and ad.equal(x, y)


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_nothing_to_drop_is_the_input_itself(name):
    x = ad.ones(2, 3, dtype=ad.bfloat16)
    f = getattr(ad.nn.functional, name)
    assert f(x, 0.5, False) is x and f(x, 0.0, True) is x
