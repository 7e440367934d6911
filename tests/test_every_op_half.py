"""Every operation in half precision: elementwise to the last places, all others to the size of the result."""

import numpy as np
import pytest

import adjoint as ad
from op_cases import CASES
from op_checks.cells import differentiable, posed, results
from op_checks.derivative import vjp
from op_checks.numeric import array, directions, is_floating, tensors, ulps

HALVES = (ad.float16, ad.bfloat16)
VALUE_ULPS, GRADIENT_ULPS = 1.5, 2.0


def half_cases(where):
    """Case and type, skipped where the case says so."""
    return pytest.mark.parametrize(
        "case, dtype",
        [
            pytest.param(
                c,
                dtype,
                id=f"{c.id}-{str(dtype).rpartition('.')[2]}",
                marks=[pytest.mark.skip(reason=c.skip["half"])] if "half" in c.skip else [],
            )
            for c in CASES
            if any(i.draw(c.rng()).dtype.kind == "f" for i in c.inputs) and where(c)
            for dtype in HALVES
        ],
    )


def in_half(case, dtype):
    """The inputs rounded to `dtype`, and the same numbers in double precision."""
    half = tensors(case.sample(), dtype)
    return half, [t.double() if is_floating(t) else t for t in half]


def check(actual, exact, dtype, elementwise, limit):
    """Within `limit` ulps of each number, or of the largest one if the numbers are sums of many."""
    for y, e in zip(actual, exact, strict=True):
        if not is_floating(e):
            continue
        assert y.dtype == dtype
        a, b = array(y), array(e)
        if elementwise:
            worst = ulps(a, b, dtype).max(initial=0.0)
            assert worst <= limit, f"{worst:.3g} ulp"
        else:
            scale = np.abs(b).max(initial=ad.finfo(dtype).tiny)
            assert np.abs(a - b).max(initial=0.0) <= 4 * limit * ad.finfo(dtype).eps * scale


@half_cases(lambda c: True)
def test_half_value(case, dtype):
    half, double = in_half(case, dtype)
    check(results(case, half), results(case, double), dtype, case.elementwise, VALUE_ULPS)


def same_bits(found, expected):
    for y, e in zip(found, expected, strict=True):
        assert not is_floating(e) or ad.equal(y.float().nan_to_num(9.5), e.float().nan_to_num(9.5))


@half_cases(lambda c: True)
def test_same_bits_while_watched(case, dtype):
    """While somebody watches, halves are cast, and seen to be."""
    half, _ = in_half(case, dtype)

    def computed():
        ad.manual_seed(0)
        values = results(case, half)
        if not differentiable(case):
            return values
        f, xs = posed(case, half)
        return [*values, *vjp(f, xs, [ad.ones_like(y) for y in f(*xs)])]

    found = computed()
    with ad.autograd.profiler.profile():
        expected = computed()
    assert [y.dtype for y in found] == [e.dtype for e in expected]
    same_bits(found, expected)


def same_shapes(case):
    """No input is broadcast, so that no gradient is a sum."""
    return len({i.shape for i in case.inputs}) == 1


@half_cases(differentiable)
def test_half_gradient(case, dtype):
    half, double = in_half(case, dtype)
    (f, xs), (g, exact_xs) = posed(case, half), posed(case, double)
    us = directions(case.rng(1), f(*xs))
    actual, exact = vjp(f, xs, us), vjp(g, exact_xs, [u.double() for u in us])
    check(actual, exact, dtype, case.elementwise and same_shapes(case), GRADIENT_ULPS)


def whole_range(dtype, low, high):
    """Some 4,000 numbers of the type, from its smallest to its largest, within an interval."""
    bits = ad.arange(-(2**15), 2**15, 13, dtype=ad.int16).view(dtype)
    return bits[(bits > low) & (bits < high)]


SWEPT = {
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atanh": (-1, 1),
    "erfinv": (-1, 1),
    "acosh": (1, np.inf),
    "lgamma": (0, np.inf),
    "digamma": (0, np.inf),
    "log": (0, np.inf),
    "log2": (0, np.inf),
    "log10": (0, np.inf),
    "log1p": (-1, np.inf),
    "sqrt": (0, np.inf),
    "rsqrt": (0, np.inf),
    "logit": (0, 1),
    "special.bessel_y1": (1e-18, np.inf),  # smaller numbers have neighbours in order that overflow
    "special.modified_bessel_k1": (1e-18, np.inf),
    "special.i0e": (-1e4, 1e4),  # derivatives that are differences
    "special.i1e": (-1e4, 1e4),
    "special.scaled_modified_bessel_k0": (0, 1e4),
    "special.scaled_modified_bessel_k1": (1e-18, 1e4),
    "special.spherical_bessel_j0": (-1e4, 1e4),
}
"Domains narrower than the line, or where single precision resolves the derivative."


def swept(case):
    """A function of one number and nothing else."""
    return differentiable(case) and case.elementwise and len(case.args) == 1 and not case.kwargs


@half_cases(swept)
def test_half_everywhere(case, dtype):
    """Value and gradient over the whole range of the type, tails and all."""
    x = whole_range(dtype, *SWEPT.get(case.name, (-np.inf, np.inf)))
    (f, xs), (g, exact_xs) = posed(case, [x]), posed(case, [x.double()])
    ys, exact = f(*xs), g(*exact_xs)
    check(ys, exact, dtype, True, VALUE_ULPS)
    gradient = vjp(f, xs, [ad.ones_like(y) for y in ys])
    exact_gradient = vjp(g, exact_xs, [ad.ones_like(y) for y in exact])
    check(gradient, exact_gradient, dtype, True, GRADIENT_ULPS)
