"""Cotangents that meet are added in memory that nobody else has: what somebody keeps stays as it is."""

import numpy as np
import pytest

import adjoint as ad

KEPT = []


class Keeps(ad.autograd.Function):
    @staticmethod
    def forward(ctx, x, how):
        ctx.how = how
        return x.clone()

    @staticmethod
    def backward(ctx, v):
        array = np.full(v.shape, 2.0, np.float32)
        given = {
            "tensor": lambda: ad.full_like(v, 2.0),
            "array": lambda: ad.from_numpy(array),
            "view": lambda: ad.full((2, *v.shape), 2.0)[0],
            "other way round": lambda: ad.full(v.shape[::-1], 2.0).mT,
            "detached": lambda: KEPT[0].detach() if KEPT else ad.full_like(v, 2.0),
            "expanded": lambda: ad.tensor(2.0).expand(v.shape),
            "double": lambda: ad.full_like(v, 2.0, dtype=ad.float64),
        }[ctx.how]()
        KEPT.append(array if ctx.how == "array" else given)
        return given, None


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("how", ["tensor", "array", "view", "other way round", "detached", "expanded", "double"])
def test_what_a_function_keeps_is_not_written_to(how, keep):
    KEPT.clear()
    x = ad.ones(3, 4, requires_grad=True)
    y = Keeps.apply(x, how) + Keeps.apply(x, how) + x * 3.0
    if not keep:
        KEPT.clear()
    v = ad.ones(3, 4)
    (g,) = ad.autograd.grad(y, x, v)
    assert (g == 7.0).all() and (v == 1.0).all()
    assert all((np.asarray(k) == 2.0).all() for k in KEPT)


def test_gradients_that_a_hook_or_a_graph_keeps():
    x = ad.linspace(0.1, 1.0, 5).requires_grad_()
    h = x * 2.0
    seen = []
    a, b = h.sin(), h.cos()
    for t in (a, b, h):
        t.register_hook(lambda g: seen.append((g, g.clone())))
    h.retain_grad()
    (g,) = ad.autograd.grad((a * b + h).sum(), x, create_graph=True, retain_graph=True)
    (g.sum() + (a * b + h).sum()).backward()
    assert all((kept == copy).all() for kept, copy in seen)
    h_ = ad.linspace(0.1, 1.0, 5, dtype=ad.float64) * 2.0
    expected = 2.0 * (ad.cos(2 * h_) + 1.0) - 8.0 * ad.sin(2 * h_)
    np.testing.assert_allclose(x.grad.numpy(), expected.numpy(), rtol=1e-5)
