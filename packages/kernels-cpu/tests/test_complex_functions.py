"""Functions of complex numbers in vectors, beside core's, which take one number at a time: ordinary numbers, and those that vectors leave to them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint_kernels_cpu import _kernels

NAMES = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "rsqrt",
    "sigmoid", "sin", "sinc", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip
PARTS = (0.0, -0.0, 0.3, 1.0, -1.0, 2.5, -40.0, 800.0, -1e30, 1e-30, 2e3, float("inf"), -float("inf"), float("nan"))


def points(count: int, dtype: str) -> Any:
    """Numbers of all sizes, near 1 and the unit circle, and all pairs of special parts between them."""
    rng = np.random.default_rng(count)
    z = rng.standard_normal(count) + 1j * rng.standard_normal(count)
    z[::5] *= 10.0 ** rng.uniform(-9, 3, z[::5].size)
    z[1::5] /= abs(z[1::5])
    z[2::5] = 1 + 1e-3 * z[2::5]
    z[3::11] = [complex(*p) for p in itertools.islice(itertools.cycle(itertools.product(PARTS, PARTS)), z[3::11].size)]
    return z.astype(dtype)


def agree(found: Any, expected: Any, dtype: str, ulps: float = 64) -> None:
    """Relative to the size of a result; so are infinities and NaN, unless core's arithmetic overflows on its way."""
    eps, most = np.finfo(dtype).eps, np.finfo(dtype).max
    with np.errstate(all="ignore"):
        near = abs(found - expected) <= ulps * eps * abs(expected) + 1e-30
        for a, b in ((found.real, expected.real), (found.imag, expected.imag)):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (abs(a - b) <= ulps * eps * abs(expected) + 1e-30)
            good = near | same | (~np.isfinite(b) & (abs(a) > most / 64))
            assert good.all(), (found[~good], expected[~good])


def both(name: str, call: Callable[[], Any]) -> tuple[Any, Any]:
    found = call().numpy()
    _kernels.use_reference(name, True)
    try:
        return found, call().numpy()
    finally:
        _kernels.use_reference(name, False)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str, dtype: str) -> None:
    for count in (1, 7, 128, 133, 9001):
        z = ad.from_numpy(points(count, dtype))
        agree(
            *both(name, lambda z=z: getattr(ad, name)(z)), dtype, 2000 if name == "exp2" else 64
        )  # core multiplies exponents as floats


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["div", "pow"])
def test_of_two_numbers(name: str, dtype: str) -> None:
    a, b = (ad.from_numpy(points(9001, dtype)[k:5000:k]) for k in (1, 1))
    agree(
        *both(name, lambda: getattr(ad, name)(a, b.flip(0))), dtype, 4000 if name == "pow" else 64
    )  # powers magnify the error of a logarithm


def test_slope_of_sinc() -> None:
    z = ad.from_numpy(points(9001, "complex64")).requires_grad_()
    agree(*both("sinc", lambda: ad.autograd.grad(ad.sinc(z), z, ad.ones_like(z))[0]), "complex64")


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0, 0.5, 1, 2, 3, 2.25])
def test_one_exponent(exponent: float) -> None:
    z = ad.from_numpy(points(3000, "complex64"))
    agree(*both("pow", lambda: z**exponent), "complex64")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_an_element_does_not_depend_on_its_neighbours(dtype: str) -> None:
    z = points(500, dtype)
    whole = ad.tanh(ad.from_numpy(z)).numpy()
    for i in range(0, 500, 7):
        assert ad.tanh(ad.from_numpy(z[i : i + 1])).numpy().tobytes() == whole[i : i + 1].tobytes()


def test_variance_is_that_of_both_parts() -> None:
    rng = np.random.default_rng(0)
    for shape, dim in (
        ((5,), 0),
        ((1009,), 0),
        ((7, 13), 1),
        ((70, 33), 0),
        ((3, 17, 5), 1),
        ((40000,), 0),
        ((300, 300), (0, 1)),
    ):
        z = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape) + 3 - 2j).astype("complex64")
        wide = z.astype("complex128")
        for correction in (0, 1):
            np.testing.assert_allclose(
                ad.var(ad.from_numpy(z), dim=dim, correction=correction).numpy(),
                np.var(wide, axis=dim, ddof=correction),
                rtol=3e-6,
            )
        np.testing.assert_allclose(
            ad.linalg.vector_norm(ad.from_numpy(z), 2.5, dim=dim).numpy(), (abs(wide) ** 2.5).sum(dim) ** 0.4, rtol=3e-6
        )
        np.testing.assert_allclose(
            ad.linalg.vector_norm(ad.from_numpy(z), 2, dim=dim).numpy(), (abs(wide) ** 2).sum(dim) ** 0.5, rtol=3e-6
        )
    for size in (1e30, 1e-30):
        np.testing.assert_allclose(
            ad.linalg.vector_norm(ad.tensor([size, -size * 1j, 0], dtype=ad.complex64)).item(), size * 2**0.5, rtol=1e-6
        )
        np.testing.assert_allclose(ad.std(ad.tensor([size, -size * 1j], dtype=ad.complex64)).numpy(), size, rtol=1e-6)
    assert ad.var(ad.full((1000,), 0.1 + 0.3j)).item() == 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["cumprod", "logcumsumexp", "logsumexp", "prod"])
def test_along_a_dimension(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for shape, dim in (
        ((5,), 0),
        ((1300,), 0),
        ((40, 33), 0),
        ((33, 40), 1),
        ((3, 7, 200), 1),
        ((600, 3), 0),
        ((2, 3), 1),
        ((1, 1), 0),
    ):
        z = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        x = ad.from_numpy((z / abs(z) if "prod" in name else 30 * z).astype(dtype))
        found, expected = both(name, lambda x=x, dim=dim: getattr(ad, name)(x, dim))
        np.testing.assert_allclose(found, expected, rtol=0, atol=16 * np.finfo(dtype).eps * abs(expected).max())
        turned, plain = (getattr(ad, name)(v, dim).numpy() for v in (x.mT.contiguous().mT if x.ndim > 1 else x, x))
        np.testing.assert_allclose(turned, plain, rtol=0, atol=16 * np.finfo(dtype).eps * abs(plain).max())


@pytest.mark.parametrize("name", ["logcumsumexp", "logsumexp"])
def test_logarithms_of_sums_beside_infinities_are_those_of_core(name: str) -> None:
    x = ad.full((3, 4), complex(-np.inf, 1), dtype=ad.complex64)
    np.testing.assert_array_equal(*both(name, lambda: getattr(ad, name)(x, 1)))
    for value in (np.inf, -np.inf, np.nan, 1e30, 1j * np.inf, 1e6j):
        x = ad.tensor([1 + 1j, value, 2 - 1j, 0.5], dtype=ad.complex64)
        np.testing.assert_array_equal(*both(name, lambda x=x: getattr(ad, name)(x, 0)))
