"""Functions of double precision beside those of C's library, and the same bits wherever an element lies."""

import math
from decimal import Decimal
from functools import partial

import numpy as np
import pytest

import adjoint as ad


def erfcx(x: float) -> float:
    """e^(x^2) erfc(x) by its asymptotic series from 6 on, where erfc loses its digits."""
    if x < 6:
        return math.exp(x * x) * math.erfc(x)
    term = total = 1.0
    for k in range(1, 30):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * math.sqrt(math.pi))


def bessel_i(n: int, x: float, scaled: bool) -> float:
    """By the power series, whose terms have one sign."""
    half, k = Decimal(x) / 2, 0
    term = total = half**n if n else Decimal(1)
    while abs(term) > abs(total) * Decimal("1e-20"):
        k += 1
        term *= half * half / (k * (n + k))
        total += term
    return float(total * (-abs(Decimal(x))).exp() if scaled else total)


# Exact to about a unit, the range, and how many units in the last place are allowed.
FUNCTIONS = {
    "erf": (math.erf, -7, 7, 2.5),
    "erfc": (math.erfc, -7, 27.2, 5.5),
    "exp": (math.exp, -745, 709, 2),
    "log": (math.log, 1e-3, 3, 1.7),
    "log10": (math.log10, 1e-3, 3, 2.5),
    "log2": (math.log2, 1e-3, 3, 1.7),
    "logit": (lambda p: math.log(p) - math.log1p(-p) if not 0.3 < p < 0.7 else 2 * math.atanh(2 * p - 1), 0, 1, 3),
    "special.erfcx": (erfcx, -5, 40, 80),  # of x * x rounded in the exponential
    "special.i0": (partial(bessel_i, 0, scaled=False), -30, 30, 6),
    "special.i0e": (partial(bessel_i, 0, scaled=True), -30, 30, 6),
    "special.i1": (partial(bessel_i, 1, scaled=False), -30, 30, 6),
    "special.i1e": (partial(bessel_i, 1, scaled=True), -30, 30, 6),
}


def function(name: str):
    return getattr(ad.special, name[8:]) if name.startswith("special.") else getattr(ad, name)


def numbers(low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    middle, size = np.clip(0.5, low, high), min(1.0, high - low)
    return np.concatenate(
        [
            rng.uniform(low, high, 20_000),
            rng.uniform(max(low, middle - size), min(high, middle + size), 20_000),
            np.clip(np.ldexp(rng.uniform(1, 2, 1000), rng.integers(-60, 0, 1000)), low, high),
        ]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_doubles_have_the_digits_of_the_library(name: str) -> None:
    exact, low, high, limit = FUNCTIONS[name]
    x = numbers(low, high)
    x = x[(x != 0) & (x != 1)] if name == "logit" else x[::20] if name.startswith("special.i") else x
    y = function(name)(ad.tensor(x)).numpy()
    expected = np.array([exact(v) for v in x.tolist()])
    distance = np.abs(y - expected) / np.spacing(np.abs(expected))
    worst = int(distance.argmax())
    assert distance[worst] <= limit, f"{x[worst]!r}: {y[worst]!r} for {expected[worst]!r}"


def test_lgamma_has_its_digits_next_to_its_roots() -> None:
    """By mpmath; roots next to others of these numbers lie in one tile."""
    values = {
        1.0000009536743164: -5.504750066148867e-07,
        0.9999999990686774: 5.375739798578573e-10,
        2.0000000298023224: 1.2599955341480182e-08,
        1.999: -0.0004224618006921073,
        1.46163: -0.12148629053362353,
        -2.457: 3.7496305958099786e-05,
        -2.7476826467274126: 1.733509244024501e-16,
        -3.1435808883: 3.8894044973508284e-10,
        -0.5: 1.2655121234846454,
        -10.000001: -1.2889043661138306,
        -200.25: -863.066043332368,
        1e-200: 460.51701859880916,
        7.999: 8.523145786158915,
        8.0: 8.525161361065415,
    }
    y = ad.lgamma(ad.tensor(list(values), dtype=ad.float64)).numpy()
    expected = np.array(list(values.values()))
    assert np.all(np.abs(y - expected) <= 5 * np.spacing(np.abs(expected))), y


def test_lgamma_grows_by_the_logarithm() -> None:
    x = ad.tensor(np.random.default_rng(0).uniform(-30, 60, 40_000))
    above = ad.lgamma(x + 1)
    error = (above - ad.lgamma(x) - x.abs().log()).abs() / ad.maximum(above.abs(), x.abs().log().abs() + 1)
    assert error.max().item() < 5e-15  # x + 1 is rounded, too


def test_angles_have_the_digits_of_the_library() -> None:
    rng = np.random.default_rng(0)
    y, x = rng.standard_normal((2, 40_000)) * np.exp(rng.uniform(-3, 3, (2, 40_000)))
    ends = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308, -1.7e308])
    y, x = np.append(y, np.repeat(ends, len(ends))), np.append(x, np.tile(ends, len(ends)))
    found, expected = ad.atan2(ad.tensor(y), ad.tensor(x)).numpy(), np.arctan2(y, x)
    number = ~np.isnan(expected)
    assert np.array_equal(number, ~np.isnan(found))
    assert np.array_equal(np.signbit(found[number]), np.signbit(expected[number]))
    distance = np.abs(found - expected) / np.spacing(np.abs(expected))
    assert np.nanmax(distance) <= 2.5


def test_erfinv_is_the_inverse() -> None:
    """Of erfc, which has digits in the tail; a unit of erfinv is 2 x^2 + 2 of erfc's at most."""
    rng = np.random.default_rng(0)
    c = np.concatenate([rng.uniform(0, 1, 20_000), np.exp(rng.uniform(-36, 0, 20_000))])
    y = 1 - c
    c = 1 - y[(y > 0) & (y < 1)]
    x = ad.erfinv(ad.tensor(1 - c)).numpy()
    back = np.array([math.erfc(v) for v in x.tolist()])
    units = np.abs(back - c) / (np.spacing(c) * (2 * x * x + 2))
    small = np.array([math.erf(v) for v in x.tolist()])
    units = np.where(c > 0.5, np.abs(small - (1 - c)) / np.spacing(1 - c), units)
    assert units.max() <= 4.5, c[units.argmax()]
    ends = ad.erfinv(ad.tensor([1.0, -1.0, 0.0, -0.0, 1.1, math.nan], dtype=ad.float64)).numpy()
    assert np.array_equal(ends, [math.inf, -math.inf, 0, 0, math.nan, math.nan], equal_nan=True) and np.signbit(ends[3])


def test_what_vanishes_and_what_is_infinite() -> None:
    x = ad.tensor([0.0, math.inf, -math.inf, math.nan, -800.0, 800.0], dtype=ad.float64)
    inf, nan = math.inf, math.nan
    for name, expected in {
        "erf": [0, 1, -1, nan, -1, 1],
        "erfc": [1, 0, 2, nan, 2, 0],
        "exp": [1, inf, 0, nan, 0, inf],
        "log": [-inf, inf, nan, nan, nan, math.log(800)],
        "log10": [-inf, inf, nan, nan, nan, math.log10(800)],
        "log2": [-inf, inf, nan, nan, nan, math.log2(800)],
        "special.i0": [1, inf, inf, nan, inf, inf],
        "special.i1": [0, inf, -inf, nan, -inf, inf],
    }.items():
        np.testing.assert_allclose(function(name)(x).numpy(), expected, rtol=1e-15, err_msg=name)
    for name in ("special.i0e", "special.i1e", "special.erfcx"):
        assert ad.special.__dict__[name[8:]](x[1:2]).item() == 0
    poles = ad.lgamma(ad.tensor([0.0, -1.0, -2.0, math.inf, -math.inf, 1e308], dtype=ad.float64)).numpy()
    assert np.all(poles == math.inf)
    assert ad.nn.functional.gelu(ad.tensor([-40.0, 50.0, 1e300], dtype=ad.float64)).tolist() == [0, 50, 1e300]


@pytest.mark.parametrize("name", [*FUNCTIONS, "erfinv", "lgamma", "atan2"])
@pytest.mark.parametrize("dtype", [ad.float64, ad.float32], ids=["float64", "float32"])
def test_bits_do_not_depend_on_the_place(name: str, dtype: ad.dtype) -> None:
    """Of an element between any others, in a loop of whole vectors and at its end; with lgamma also next to its roots."""
    rng = np.random.default_rng(1)
    low, high = (0, 1) if name in ("erfinv", "logit") else (0.1, 4) if name.startswith("log") else (-6, 6)
    f = function(name)
    x, other = (ad.tensor(rng.uniform(low, high, 1500)).to(dtype) for _ in range(2))
    call = (lambda a, b: f(a, b)) if name == "atan2" else (lambda a, b: f(a))
    whole = call(x, other).numpy()
    for first, count in [(0, 1), (1, 7), (3, 8), (5, 100), (13, 515), (900, 600), *((i, 1) for i in range(0, 1500, 7))]:
        part = call(x[first : first + count].clone(), other[first : first + count].clone()).numpy()
        assert np.array_equal(part, whole[first : first + count], equal_nan=True), (first, count)


def test_erfcx_by_exact_values() -> None:
    """Where the reference above rounds x * x in the exponential: mpmath's values, of 200 bits."""
    exact = {
        -20.5: 6.50557990548002e182,
        -3.25: 77315.13640375607,
        -0.5: 1.952360489182557,
        0.25: 0.7703465477309968,
        1.75: 0.2849722347374364,
        2.5: 0.2108063640611436,
        6.0: 0.09277656780053835,
        26.0: 0.021683584850562907,
        30.0: 0.01879588886141675,
        1e5: 5.6418958351954685e-06,
    }
    found = ad.special.erfcx(ad.tensor(list(exact), dtype=ad.float64)).tolist()
    for x, y, wanted in zip(exact, found, exact.values(), strict=True):
        assert abs(y - wanted) <= 4 * math.ulp(wanted), x
