"""The records behind the gradients of layer_norm, rms_norm and batch_norm, where no history is kept: as their rules compose them."""

import pytest

import adjoint as ad
from adjoint_core import _core

F = ad.nn.functional


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_as_composed(centred, affine):
    x, v = ad.randn(2, 3, 5, dtype=ad.float64).requires_grad_(), ad.randn(2, 3, 5, dtype=ad.float64)
    w = ad.rand(5, dtype=ad.float64).requires_grad_() if affine else None
    y = F.layer_norm(x, (5,), w, None, 1e-3) if centred else F.rms_norm(x, (5,), w, 1e-3)
    mean = x.detach().mean(-1) if centred else None
    square = x.detach().var(-1, correction=0) if centred else x.detach().square().mean(-1)
    wanted = ad.autograd.grad(y, [x, w] if affine else [x], v, create_graph=True)  # composed
    operands = (v, x.detach(), mean, square)
    ad.testing.assert_close(_core._rows_vjp(*operands, w.detach() if affine else None, 5, 1e-3, False), wanted[0])
    if affine:
        ad.testing.assert_close(_core._rows_vjp(*operands, None, 5, 1e-3, True).flatten(), wanted[1])


def test_a_row_of_one_has_no_gradient():
    x, v, w = ad.randn(70, 1).requires_grad_(), ad.randn(70, 1), ad.randn(1).requires_grad_()
    assert all((g == 0).all() for g in ad.autograd.grad(F.layer_norm(x, (1,), w, None, 1e-5), [x, w], v))


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16], ids=str)
def test_halves_have_the_epsilon_of_float(dtype):
    x = ad.tensor([0.01, 0.02, -0.03, 0.001], dtype=dtype)
    ad.testing.assert_close(F.rms_norm(x, (4,)), F.rms_norm(x.float(), (4,)).to(dtype))


def test_what_it_takes():
    with pytest.raises(RuntimeError, match="a square for each 5 elements"):
        _core._rows_vjp(ad.ones(2, 5), ad.ones(2, 5), None, ad.ones(3), None, 5, 1e-3, False)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("sizes", [(6, 3), (4, 3, 2, 2), (3, 3, 50), (2, 3, 1100)], ids=str)
def test_of_channels(sizes, affine):
    x, v = ad.randn(*sizes, dtype=ad.float64).requires_grad_(), ad.randn(*sizes, dtype=ad.float64)
    w = ad.rand(3, dtype=ad.float64).requires_grad_() if affine else None
    wanted = ad.autograd.grad(
        F.batch_norm(x, None, None, w, training=True, eps=1e-3), [x, w] if affine else [x], v, create_graph=True
    )  # composed
    dims = [d for d in range(len(sizes)) if d != 1]
    mean, square = x.detach().mean(dims, keepdim=True), x.detach().var(dims, correction=0, keepdim=True)
    operands = (v, x.detach(), mean, square)
    ad.testing.assert_close(_core._channels_vjp(*operands, w.detach() if affine else None, 1e-3, False), wanted[0])
    if affine:
        ad.testing.assert_close(_core._channels_vjp(*operands, None, 1e-3, True).flatten(), wanted[1])


def test_what_channels_take():
    with pytest.raises(RuntimeError, match="a weight for each channel"):
        _core._channels_vjp(ad.ones(2, 5), ad.ones(2, 5), ad.ones(5), ad.ones(3), None, 1e-3, False)


@pytest.mark.parametrize(
    ("sizes", "groups"), [((3, 6, 5), 2), ((3, 6, 2, 20), 3), ((2, 3, 1100), 3), ((4, 6), 2), ((1, 4, 3), 1)], ids=str
)
def test_of_groups(sizes, groups):
    x, v = ad.randn(*sizes, dtype=ad.float64).requires_grad_(), ad.randn(*sizes, dtype=ad.float64)
    w, b = ad.rand(sizes[1], dtype=ad.float64).requires_grad_(), ad.randn(sizes[1], dtype=ad.float64).requires_grad_()
    y = F.group_norm(x, groups, w, b, 1e-3)
    each = [-1, *[1] * (len(sizes) - 2)]
    ad.testing.assert_close(
        y,
        F.layer_norm(x.reshape(sizes[0] * groups, -1), (x.numel() // sizes[0] // groups,), None, None, 1e-3).reshape(sizes)
        * w.view(each)
        + b.view(each),
    )
    found = ad.autograd.grad(y, [x, w, b], v)
    wanted = ad.autograd.grad(F.group_norm(x, groups, w, b, 1e-3), [x, w, b], v, create_graph=True)  # composed
    ad.testing.assert_close(found, wanted)
