"""The record behind the gradients of layer_norm and rms_norm on GPUs, on the CPU: as their rules compose them."""

import pytest

import adjoint as ad
from adjoint_core import _core

F = ad.nn.functional


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_as_composed(centred, affine):
    x, v = ad.randn(2, 3, 5, dtype=ad.float64).requires_grad_(), ad.randn(2, 3, 5, dtype=ad.float64)
    w = ad.rand(5, dtype=ad.float64) if affine else None
    y = F.layer_norm(x, (5,), w, None, 1e-3) if centred else F.rms_norm(x, (5,), w, 1e-3)
    mean = x.detach().mean(-1) if centred else None
    square = x.detach().var(-1, correction=0) if centred else x.detach().square().mean(-1)
    (wanted,) = ad.autograd.grad(y, x, v)
    ad.testing.assert_close(_core._rows_vjp(v, x.detach(), mean, square, w, 5, 1e-3), wanted)


def test_what_it_takes():
    with pytest.raises(RuntimeError, match="a square for each 5 elements"):
        _core._rows_vjp(ad.ones(2, 5), ad.ones(2, 5), None, ad.ones(3), None, 5, 1e-3)
