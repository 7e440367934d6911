"""`nextafter` and `nonzero_static`: derivatives, and lanes of vmap."""

import pytest

import adjoint as ad


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.bfloat16])
def test_derivative_of_nextafter(dtype):
    values = [-1.0, 2.0, 0.0, -0.0, 3.0, float("inf")]
    x = ad.tensor(values, dtype=dtype, requires_grad=True)
    y = ad.tensor([-2.0, 2.0, 0.0, 0.0, 1.0, 0.0], dtype=dtype, requires_grad=True)
    moved = ad.nextafter(x, y)
    assert moved.detach().signbit().tolist() == [True, False, False, False, False, False] and moved.isfinite().all()
    by_x, by_y = ad.autograd.grad(moved.sum(), (x, y))
    assert by_x.tolist() == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0] and by_y.tolist() == [0.0] * 6


def test_nextafter_keeps_the_sign_of_zero():
    least = ad.tensor(-5e-324, dtype=ad.float64, requires_grad=True)
    assert ad.nextafter(least, ad.zeros_like(least)).detach().signbit()


@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 2)])
@pytest.mark.parametrize("size", [0, 1, 4, 20])
def test_nonzero_static(shape, size):
    ad.manual_seed(0)
    x = ad.randint(-1, 2, (3, *shape))
    rows = []
    for lane in x:
        found = lane.nonzero().tolist()[:size]
        rows.append(found + [[-7] * len(shape)] * (size - len(found)))
        got = ad.nonzero_static(lane, size=size, fill_value=-7)
        assert got.tolist() == rows[-1] and got.shape == (size, len(shape)) and got.dtype is ad.int64
    assert ad.vmap(lambda lane: ad.nonzero_static(lane, size=size, fill_value=-7))(x).tolist() == rows


@pytest.mark.filterwarnings("ignore:where received a uint8 condition")
def test_where_of_a_byte_mask():
    mask, x, y = ad.tensor([1, 0, 3], dtype=ad.uint8), ad.ones(3), ad.zeros(3)
    assert ad.where(mask, x, y).tolist() == [1.0, 0.0, 1.0]
    with pytest.raises(RuntimeError, match="boolean tensor"):
        ad.where(mask.int(), x, y)
