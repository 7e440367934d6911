"""What multiplies or divides a half tensor and is one number is not rounded to the half type first, as in PyTorch."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad

HALVES = [ad.float16, ad.bfloat16]
FLOATS = st.floats(-60, 60, width=32).filter(lambda v: abs(v) > 0.02)
SHAPES = [(1,), (5,), (3, 40), (700,)]


def trunc_divide(a, b):
    return ad.div(a, b, rounding_mode="trunc")


def tensor_of(shape, dtype, transposed):
    x = ad.randn(*shape, generator=ad.Generator().manual_seed(0)).to(dtype)
    return x.t() if transposed and len(shape) == 2 else x


def same(found, expected):
    return found.dtype == expected.dtype and ad.equal(found.float(), expected.float())


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("op", [operator.mul, operator.truediv, operator.floordiv, trunc_divide])
@given(number=FLOATS, shape=st.sampled_from(SHAPES), transposed=st.booleans(), as_tensor=st.booleans(), left=st.booleans())
def test_rounded_once(op, dtype, number, shape, transposed, as_tensor, left):
    x = tensor_of(shape, dtype, transposed)
    other = ad.tensor(number) if as_tensor else number
    if left and not (op is trunc_divide and not as_tensor):
        assert same(op(other, x), op(ad.tensor(number), x.float()).to(dtype))
    else:
        assert same(op(x, other), op(x.float(), number).to(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_in_place_and_derivatives(dtype):
    x = tensor_of((700,), dtype, False)
    expected = (x.float() * 0.1).to(dtype)
    y = x.clone()
    y *= 0.1
    assert same(y, expected)
    assert same(ad.vmap(lambda a: a * 0.1)(x), expected)
    leaf = x.clone().requires_grad_()
    (leaf * 0.1).backward(x)
    assert same(leaf.grad, expected)
    assert same(ad.func.jvp(lambda a: a * 0.1, (x,), (x,))[1], expected)
    leaf.grad = None
    (leaf / 3.3).backward(x)
    assert same(leaf.grad, (x.float() / 3.3).to(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_sums_round_the_number_as_pytorch_does(dtype):
    x = tensor_of((700,), dtype, False)
    assert same(x + 0.1, (x.float() + ad.tensor(0.1, dtype=dtype).float()).to(dtype))


def test_a_tensor_of_one_element_is_a_number():
    x = ad.tensor([0.1, 2.0], dtype=ad.float16)
    assert ad.equal(x * ad.tensor([70000]), (x.float() * 70000).half())
    assert (ad.tensor([300.0], dtype=ad.bfloat16) * ad.tensor([257])).item() == 77312
