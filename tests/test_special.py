"""Special functions beyond the table of cases: values, ends of the range, identities between them."""

from __future__ import annotations

import math

import pytest

import adjoint as ad

s = ad.special
inf, nan = math.inf, math.nan
X = [1e-12, 1e-4, 0.3, 0.99, 1.0, 2.5, 7.9, 8.1, 26.0, 29.9, 30.1, 300.0]


def close(a: ad.Tensor, b: ad.Tensor, rtol: float = 1e-13) -> None:
    ad.testing.assert_close(a, b, rtol=rtol, atol=0, equal_nan=True)


def test_bessel_functions_have_their_wronskians() -> None:
    """Abramowitz and Stegun, 9.1.16 and 9.6.15."""
    x = ad.tensor(X, dtype=ad.float64)
    i0, i1, k0, k1 = s.i0e(x), s.i1e(x), s.scaled_modified_bessel_k0(x), s.scaled_modified_bessel_k1(x)
    close((i0 * k1 + i1 * k0) * x, ad.ones_like(x))
    j0, j1, y0, y1 = s.bessel_j0(x), s.bessel_j1(x), s.bessel_y0(x), s.bessel_y1(x)
    close((j1 * y0 - j0 * y1) * x * (math.pi / 2), ad.ones_like(x))


def test_logits_of_floats_are_exact_to_an_ulp() -> None:
    ad.manual_seed(0)
    x = ad.cat([ad.rand(20000), 0.5 + 1e-3 * ad.randn(20000), 10 ** (-38 * ad.rand(20000)), 1 - 2 ** (-23 * ad.rand(20000))])
    x = x[(x > 0) & (x < 1)]
    exact, found = x.double().logit(), x.logit()
    ulp = ad.nextafter(found.abs(), ad.tensor(inf)).double() - found.abs().double()
    assert ((found.double() - exact).abs() <= ulp).all()
    close(ad.logit(ad.tensor([0.0, 1.0, -1.0, 2.0, nan, inf])), ad.tensor([-inf, inf, nan, nan, nan, nan]))
    for eps in (0.0, 0.25, 0.6, 1.0):  # above 1/2 the lower bound wins where both would
        x = ad.tensor([0.0, 0.2, 0.5, 0.7, 1.0])
        close(ad.logit(x, eps=eps), ad.logit(x.double(), eps=eps).float(), 1e-6)


def test_scaled_forms() -> None:
    x = ad.tensor(X, dtype=ad.float64)
    close(s.i0(x) * (-x).exp(), s.i0e(x), 1e-12)
    close(s.modified_bessel_i1(-x) * (-x).exp(), -s.i1e(x), 1e-12)
    close(s.modified_bessel_k1(x) * x.exp(), s.scaled_modified_bessel_k1(x), 1e-12)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [  # by mpmath 1.3, 40 digits; airy_ai by its power series in decimal numbers of 60
        ("airy_ai", -12.5, -0.27627456138116024822),
        ("airy_ai", -2.1, 0.163484512999292737338),
        ("airy_ai", 6.3, 0.000004672260820574287),
        ("airy_ai", 10.5, 2.202274519283401643530e-11),
        ("i0", 1.0, 1.266065877752008335598),
        ("i1", -2.0, -1.590636854637329063382),
        ("bessel_j0", 2.5, -0.04838377646819799632729),
        ("bessel_y1", 0.5, -1.471472392670243069188),
        ("modified_bessel_k0", 0.1, 2.427069024702016612519),
        ("modified_bessel_k1", 3.0, 0.04015643112819418437671),
        ("erfcx", -1.0, 5.008980080762283466310),
        ("erfcx", 5.0, 0.1107046377330686263702),
        ("erfcx", 1e5, 5.641895835195468078e-6),
    ],
)
def test_values(name: str, at: float, value: float) -> None:
    assert getattr(s, name)(ad.tensor(at, dtype=ad.float64)).item() == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("order", "at", "value"),
    [  # by mpmath 1.3, 40 digits
        (1e-300, 0.5, 5.597735947761608257742e-301),
        (1e-10, 1.0, 2.193839344179677857470e-11),
        (1e-10, 1e-20, 4.547448609166518465617e-9),
        (1e-3, 0.5, 5.600666564707498886849e-4),
        (0.0099, 0.7, 3.728052362060173239560e-3),
        (0.0101, 0.7, 3.803934890862403883834e-3),
    ],
)
def test_upper_incomplete_gamma_of_small_order(order: float, at: float, value: float) -> None:
    y = s.gammaincc(ad.tensor(order, dtype=ad.float64), ad.tensor(at, dtype=ad.float64))
    assert y.item() == pytest.approx(value, rel=1e-13)


def test_the_sign_of_zero_chooses_the_side_of_the_cut_of_log1p() -> None:
    z = ad.tensor([complex(-2.0, -0.0), complex(-2.0, 0.0)], dtype=ad.complex128)
    assert z.log1p().imag.tolist() == [-math.pi, math.pi]


def test_ends() -> None:
    x = ad.tensor([0.0, inf, -inf, nan])
    close(s.i0(x), ad.tensor([1.0, inf, inf, nan]))
    close(s.i1(x), ad.tensor([0.0, inf, -inf, nan]))
    close(s.i0e(x), ad.tensor([1.0, 0.0, 0.0, nan]))
    close(s.bessel_y0(x), ad.tensor([-inf, 0.0, nan, nan]))
    close(s.modified_bessel_k1(x), ad.tensor([inf, 0.0, nan, nan]))
    close(s.erfcx(x), ad.tensor([1.0, 0.0, inf, nan]))
    assert s.airy_ai(x[1:]).isnan().all() and s.airy_ai(ad.tensor(1e4)) == 0
    close(s.spherical_bessel_j0(x), ad.tensor([1.0, 0.0, 0.0, nan]))
    close(s.i0(ad.tensor([713.0], dtype=ad.float64)), ad.tensor([6.705128263670996673e307], dtype=ad.float64), 1e-12)


def test_zeta_is_polygamma() -> None:
    q = ad.tensor([0.2, 1.0, 3.5, -0.5], dtype=ad.float64)
    close(s.zeta(3.0, q) * -2, s.polygamma(2, q))
    with pytest.raises(NotImplementedError, match="the derivative for 'zeta: self' is not implemented"):
        s.zeta(ad.tensor(2.0, requires_grad=True), q).sum().backward()


def test_degrees_are_cut_to_integers_and_not_negative() -> None:
    x = ad.tensor([0.5, 2.0])
    assert s.hermite_polynomial_h(x, ad.tensor([-1.0, 2.7])).tolist() == [0.0, 14.0]
    assert s.legendre_polynomial_p(x, ad.tensor([])[:0].reshape(0, 1)).shape == (0, 2)
    with pytest.raises(TypeError, match="expected a tensor among x and n"):
        s.legendre_polynomial_p(1.0, 2)


def test_complex_numbers_are_refused() -> None:
    z = ad.tensor([1 + 1j])
    polynomials = [lambda z, p=p: p(z, 2) for p in (s.legendre_polynomial_p, s.shifted_chebyshev_polynomial_t)]
    for f in (s.spherical_bessel_j0, s.entr, s.erfcx, *polynomials, lambda z: ad.copysign(z, z)):
        with pytest.raises(NotImplementedError, match="not implemented for .*complex64"):
            f(z)


def test_zeta_needs_a_tensor() -> None:
    with pytest.raises(TypeError, match=r"expected a Tensor among the arguments, got \(float, int\)"):
        s.zeta(2.0, 3)
    assert s.zeta(2.0, ad.tensor(3.0)).item() == pytest.approx(0.394934)


def test_zeta_of_huge_order_is_its_first_term() -> None:
    order = ad.tensor([math.inf, 1e308], dtype=ad.float64)
    for q, value in ((1.0, 1.0), (0.5, math.inf), (2.0, 0.0)):
        assert s.zeta(order, q).tolist() == [value, value]


def in_last_places(y: ad.Tensor, exact: ad.Tensor) -> float:
    """The largest error of float32 results beside those of doubles, in units of their last place."""
    assert (y.isnan() == exact.isnan()).all()
    size = y.abs()
    place = (ad.nextafter(size, ad.full_like(size, inf)) - size).double()
    error = ((y.double() - exact).abs() / place)[exact.isfinite() & y.isfinite() & (size > 1e-37)]
    return error.max().item()


ROOTS = {  # the floats next to some roots
    "bessel_j0": [2.4048255, 5.5200782, 11.791534, 18.071064, 149.45300],
    "bessel_j1": [3.8317060, 10.173468, 110.73775, 776.7583],
    "bessel_y0": [0.89357697, 3.9576784, 82.468323, 223.83904],
    "bessel_y1": [2.1971413, 5.4296810, 121.73363, 228.54922],
}


def test_quantiles_of_the_normal_distribution_far_in_its_tails() -> None:
    p = 10.0 ** -ad.arange(1, 300, dtype=ad.float64)
    x = s.ndtri(p)
    close(s.log_ndtr(x), p.log(), 1e-13)
    close(
        s.ndtri(ad.tensor([1e-10, 1e-5, 0.975], dtype=ad.float64)),
        ad.tensor([-6.361340902404056, -4.264890793922825, 1.959963984540054], dtype=ad.float64),
        1e-14,
    )
    small = p[:44].float()
    assert in_last_places(s.ndtri(small), s.ndtri(small.double())) < 0.52
    assert s.ndtri(ad.tensor([0.0, 0.5, 1.0, -1.0, nan])).tolist()[:3] == [-inf, 0.0, inf]


def test_log_ndtr_and_its_derivatives_are_right_wherever_they_are_numbers() -> None:
    x = ad.tensor([-1e4, -40.0, -1.0, 0.0, 1.0, 5.0, 30.0], dtype=ad.float64, requires_grad=True)
    y = s.log_ndtr(x)
    exact = [-50000010.12927893, -804.6084420137538, -1.841021645009264, -0.6931471805599453, -0.17275377902344988]
    close(y[:5], ad.tensor(exact, dtype=ad.float64), 1e-14)
    close(y[5:], ad.tensor([-2.866516129637636e-07, -4.906713927148187e-198], dtype=ad.float64), 1e-14)
    first = ad.autograd.grad(y.sum(), x, create_graph=True)[0]
    ratio = (-0.5 * x * x - y).exp() / math.sqrt(2 * math.pi)  # of density and probability
    close(first[1:], ratio[1:], 1e-12)
    assert first[0].item() == pytest.approx(1e4, rel=1e-7)
    second = ad.autograd.grad(first.sum(), x)[0]
    close(second[1:], (-first * (x + first))[1:], 1e-11)
    assert second.isfinite().all()
    assert s.log_ndtr(ad.tensor([inf, -inf])).tolist() == [0.0, -inf]


@pytest.mark.parametrize("name", [*ROOTS, "sinc", "gammaln", "psi", "trigamma", "log_ndtr"])
def test_vector_loops_of_floats_round_as_doubles_do(name: str) -> None:
    f = (lambda x: s.polygamma(1, x)) if name == "trigamma" else getattr(s, name)
    ad.manual_seed(0)
    x = ad.cat([(ad.rand(2000) * 2 - 1) * 10 ** (ad.rand(2000) * 8 - 6), ad.rand(1000) * 9, 1 - 10 ** -(ad.rand(300) * 7)])
    x = ad.cat([x, ad.tensor([*ROOTS.get(name, ()), 0.0, -0.0, 1.0, -1.0, -2.0, inf, -inf, nan, 3e38, 1e-40])])
    assert in_last_places(f(x), f(x.double())) < 0.52


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.bfloat16])
def test_sinc_of_large_integers_has_the_slope_of_its_sign(dtype) -> None:
    x = ad.tensor([3.0, -64.0, 2.0**40, 2.0**100], dtype=dtype, requires_grad=True)
    ad.testing.assert_close(
        ad.autograd.grad(ad.sinc(x).sum(), x)[0],
        ad.tensor([-1.0, 1, 1, 1], dtype=dtype) / x.detach(),
        atol=0,
        rtol=1e-2 if dtype == ad.bfloat16 else 1e-6,
    )


@pytest.mark.parametrize("f", [s.erfcx, s.i1, ad.sinc, ad.nn.functional.silu], ids=["erfcx", "i1", "sinc", "silu"])
def test_derivatives_of_floats_round_as_those_of_doubles_do(f) -> None:
    numbers = [0.0, -0.0, 1e-30, 1e-4, 0.5, 1.5, 2.0, 9.7, 10.59, 10.61, -9.0, -20.0, 1e4, inf, -inf, nan]
    x = ad.cat([ad.tensor(numbers), ad.linspace(-25, 25, 700)]).requires_grad_()
    wide = x.detach().double().requires_grad_()
    (found,), (exact,) = (ad.autograd.grad(f(v), v, ad.ones_like(v)) for v in (x, wide))
    ad.testing.assert_close(found, exact.float(), rtol=3e-6 if f is ad.nn.functional.silu else 5e-7, atol=1e-38, equal_nan=True)


@pytest.mark.parametrize("f", [s.zeta, s.gammainc, s.gammaincc, ad.logaddexp2])
def test_vector_loops_of_two_floats_round_as_doubles_do(f) -> None:
    ad.manual_seed(0)
    a, b = ad.rand(2, 4000) * 10 ** (ad.rand(2, 4000) * 3 - 1)
    b = ad.cat([b, a[:500] + 1, a[:500] * 1.01])
    a = ad.cat([a, a[:500], a[:500]])
    assert in_last_places(f(a, b), f(a.double(), b.double())) < (1.5 if f is ad.logaddexp2 else 0.52)
    ends = ad.tensor([0.0, -0.0, 0.5, 1.0, 2.0, 2.5, -1.0, -1.5, inf, -inf, nan, 70.0, 2000.0])
    a, b = (e.reshape(-1) for e in ad.meshgrid(ends, ends, indexing="ij"))
    ad.testing.assert_close(f(a, b), f(a.double(), b.double()).float(), equal_nan=True)


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.bfloat16, ad.float16])
def test_frexp(dtype) -> None:
    least = {ad.float64: 5e-324, ad.float32: 1e-45, ad.bfloat16: 9e-41, ad.float16: 6e-8}[dtype]
    x = ad.tensor([1.0, -0.75, 3e4, least, -3 * least, 0.0, -0.0, inf, -inf, nan], dtype=dtype)
    mantissa, exponent = ad.frexp(x)
    assert exponent.dtype is ad.int32 and exponent[5:].tolist() == [0] * 5
    assert ((mantissa[:5].abs() >= 0.5) & (mantissa[:5].abs() < 1)).all()
    assert [math.ldexp(m, e) for m, e in zip(mantissa[:5].tolist(), exponent[:5].tolist(), strict=True)] == x[:5].tolist()
    assert mantissa[5:9].tolist() == [0.0, 0.0, inf, -inf] and mantissa[9].isnan() and mantissa[6].signbit()


@pytest.mark.parametrize(("dtype", "least"), [(ad.float32, -149.0), (ad.float64, -1074.0)])
def test_the_gradient_of_exp2_at_both_ends(dtype, least) -> None:
    x = ad.tensor([least, least + 0.5, least + 3, -least / 2], dtype=dtype, requires_grad=True)
    (found,) = ad.autograd.grad(ad.exp2(x).sum(), x)
    parts = [math.log(2) * 2.0 ** (v - math.floor(v)) for v in x.tolist()]
    expected = [math.ldexp(part, math.floor(v)) for part, v in zip(parts, x.tolist())]
    ad.testing.assert_close(found, ad.tensor(expected, dtype=dtype), rtol=1e-6, atol=0)
    top = ad.tensor(128.25 if dtype is ad.float32 else 1024.25, dtype=dtype, requires_grad=True)
    assert ad.exp2(top).isinf() and ad.autograd.grad(ad.exp2(top), top)[0].isfinite()


@pytest.mark.parametrize(
    ("x", "y"), [(ad.float64, ad.bool), (ad.float64, ad.int64), (ad.float16, ad.float32), (ad.int64, ad.int64)]
)
def test_xlog1py_computes_in_the_type_of_both(x, y) -> None:
    a, b = ad.tensor([3, 0, 1], dtype=x), ad.tensor([1, 0, 1], dtype=y)
    common = ad.result_type(a, b) if x.is_floating_point else ad.float32
    ad.testing.assert_close(s.xlog1py(a, b), s.xlog1py(a.to(common), b.to(common)), rtol=0, atol=0)
    assert s.xlog1py(ad.ones(2), ad.tensor(0.5, dtype=ad.float64)).dtype == ad.float32
    assert s.hermite_polynomial_h(ad.ones(2), ad.tensor(2.0, dtype=ad.float64)).dtype == ad.float32
