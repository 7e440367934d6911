"""Special functions where their forms meet, far out and at the edges: the device against the CPU."""

import numpy as np
import pytest

import adjoint as ad

S = ad.special
BOTH = [
    0.0,
    -0.0,
    1e-30,
    1e-9,
    0.3,
    0.4999,
    0.5,
    1.0,
    1.46,
    1.999,
    2.0,
    2.5,
    5.99,
    6.01,
    9.99,
    10.01,
    15.2,
    29.0,
    31.0,
    80.0,
    599.0,
    601.0,
    700.0,
    712.0,
]
FAR = [1e4, 1e8 + 0.5, 1e30]
EDGES = [float("inf"), -float("inf"), float("nan")]
POINTS = [s * v for v in [*BOTH, *FAR, 1.25, 3.75] for s in (1, -1)] + EDGES
FUNCTIONS = {
    "i0": S.i0, "i1": S.i1, "i0e": S.i0e, "i1e": S.i1e,
    "k0": S.modified_bessel_k0, "k1": S.modified_bessel_k1, "k0e": S.scaled_modified_bessel_k0, "k1e": S.scaled_modified_bessel_k1,
    "erfcx": S.erfcx, "sinc": S.sinc, "digamma": S.digamma,
}  # fmt: skip


def compare(f, x, rel, near_root=0.0):
    """Relative to the CPU's float64 results; where those are below the type's normal numbers, or `near_root`, not at all."""
    host, device = f(x), f(x.cuda()).cpu()
    assert device.dtype == x.dtype
    a, b = host.double().numpy(), device.double().numpy()
    np.testing.assert_allclose(b, a, rtol=rel, atol=max(4 * ad.finfo(x.dtype).tiny, near_root))


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype):
    rel = {ad.float64: 2e-13, ad.float32: 1e-6, ad.bfloat16: 1e-2}[dtype]
    compare(FUNCTIONS[name], ad.tensor(POINTS, dtype=ad.float64).to(dtype), rel, 1e-14 if name == "digamma" else 0.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes(name):
    """Which take the next order."""

    def slope(x):
        x = x.detach().requires_grad_()
        return ad.autograd.grad(FUNCTIONS[name](x).sum(), x)[0]

    compare(slope, ad.tensor([0.25, 0.75, 1.3, 2.5, 8.0, 33.0], dtype=ad.float64), 1e-11)


@pytest.mark.parametrize("name", ["i1", "i1e", "modified_bessel_k1", "scaled_modified_bessel_k1"])
def test_higher_orders(name):
    """Which second and third derivatives take, by differences."""

    def slopes(x):
        x = x.detach().requires_grad_()
        found = [getattr(S, name)(x)]
        for _ in range(3):
            found.append(ad.autograd.grad(found[-1].sum(), x, create_graph=True)[0])
        return ad.stack(found).detach()

    compare(slopes, ad.tensor([1e-3, 0.25, 1.3, 1.99, 2.01, 8.0, 33.0, 650.0], dtype=ad.float64), 1e-10, 1e-15)


def test_slopes_of_sinc():
    """In float32 by a form of their own, as erfcx's."""

    def slope(x):
        x = x.detach().requires_grad_()
        return ad.autograd.grad(S.sinc(x).sum(), x)[0]

    compare(slope, ad.tensor([v for v in POINTS if abs(v) < 1e5]), 2e-6, 1e-9)


def test_slopes_of_erfcx():
    def slope(x):
        x = x.detach().requires_grad_()
        return ad.autograd.grad(S.erfcx(x).sum(), x)[0]

    compare(slope, ad.tensor([-5.0, -0.5, 0.0, 0.9, 1.1, 4.0, 10.5, 10.7, 40.0, 1e4, float("nan")]), 2e-6)
    compare(slope, ad.tensor([1e3, 40.0, 5.0], dtype=ad.float64), 1e-11)


@pytest.mark.parametrize("derivative", [False, True])
@pytest.mark.parametrize("dtype", [ad.float64, ad.float32], ids=lambda t: t.name)
def test_airy(dtype, derivative):
    def f(x):
        x = x.detach().requires_grad_()
        y = S.airy_ai(x)
        return ad.autograd.grad(y.sum(), x)[0] if derivative else y.detach()

    x = ad.cat([ad.linspace(-12, 12, 97, dtype=ad.float64), ad.tensor([-50.3, 40.0, 100.0, 300.0, *EDGES], dtype=ad.float64)])
    host, device = f(x.to(dtype)), f(x.to(dtype).cuda()).cpu()
    tolerance = 1e-13 if dtype == ad.float64 else 1e-6
    np.testing.assert_allclose(device.numpy(), host.numpy(), rtol=tolerance, atol=tolerance * 1e-2)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32], ids=lambda t: t.name)
@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("name", ["polygamma", "zeta"])
def test_sums_of_powers(name, order, dtype):
    """Of numbers above 0 alone, which skips the reflection, and of all."""
    x = ad.tensor([1e-3, 0.4, 1.0, 1.5, 4.4, 7.9, 8.1, 15.5, 16.5, 100.25, 1e6, 0.0], dtype=ad.float64)
    rel = 1e-12 if dtype == ad.float64 else 2e-6
    for points in (x, ad.cat([x, -x, -x[:6] - 0.25, ad.tensor(EDGES, dtype=ad.float64)])):
        if name == "polygamma":
            compare(lambda x: S.polygamma(order, x), points.to(dtype), rel, 1e-14)
        else:
            compare(lambda x: S.zeta(ad.full_like(x, order + 1), x), points.to(dtype), rel, 1e-14)
            compare(lambda x: S.zeta(ad.full_like(x, order + 0.5), x), points.to(dtype), rel, 1e-14)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.float16], ids=lambda t: t.name)
@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"])
def test_oscillating(name, dtype):
    """Whose errors are absolute, as there are roots. CUDA's own of float64 are 4e-13 from the CPU's on an H200."""
    x = ad.tensor([*POINTS, 2.0**27 - 8, 2.0**27, 2.0**31, *np.linspace(0.05, 40, 60)], dtype=ad.float64).to(dtype)
    host, device = getattr(S, name)(x), getattr(S, name)(x.cuda()).cpu()
    tolerance = {ad.float64: 1e-12, ad.float32: 2e-7, ad.float16: 1e-3}[dtype]
    np.testing.assert_allclose(device.double().numpy(), host.double().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32], ids=lambda t: t.name)
@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_incomplete_gamma(name, dtype):
    """By series, fraction and, far out, Temme's expansion."""
    numbers = ad.tensor([1e-3, 0.3, 1.0, 2.5, 9.9, 10.5, 80.0, 900.0, 2e6], dtype=ad.float64)
    a, x = (t.flatten() for t in ad.meshgrid(numbers, ad.cat([numbers * 0.99, numbers * 1.3, numbers + 5]), indexing="ij"))
    a, x = a.to(dtype), x.to(dtype)
    host, device = getattr(S, name)(a, x), getattr(S, name)(a.cuda(), x.cuda()).cpu()
    tolerance = 1e-11 if dtype == ad.float64 else 2e-6
    np.testing.assert_allclose(device.numpy(), host.numpy(), rtol=tolerance, atol=1e-14 if dtype == ad.float64 else 1e-30)
