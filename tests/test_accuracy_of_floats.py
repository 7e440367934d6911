"""Functions of single precision: every one of one number in the table, over all exponents, beside double precision."""

import numpy as np
import pytest

import adjoint as ad
from op_cases import CASES
from op_checks.numeric import array, ulps

# Units in the last place. What is above has a reason.
LIMIT = 2.5
LIMITS = {
    "nn.functional.gelu": 4.2,  # x - x Phi(-x), where PyTorch has no digits from -6 down
    "nn.functional.gelu-tanh": 200.0,  # a rounded exponent of up to 100; PyTorch has no digits there
    "nn.functional.mish": 160.0,  # below the normal numbers, where a unit is 2^-149
}
# Numbers of the case that are no floats: 0.3 in softshrink. Scales that overflow: 100 x in round(x, decimals=2), as in PyTorch.
SKIPPED = {"nn.functional.softshrink", "round-decimals"}


def floats() -> np.ndarray:
    """Of every exponent and sign, beside 1, of a size in which functions bend, and what is no number."""
    rng = np.random.default_rng(0)
    sizes = np.ldexp(rng.uniform(1, 2, (277, 200)), np.arange(-149, 128)[:, None]).ravel()
    beside = np.concatenate([1 - np.ldexp(1.0, -np.arange(1, 25)), 1 + np.ldexp(1.0, -np.arange(1, 24))])
    plain = np.concatenate([rng.uniform(0, high, 10_000) for high in (1, 12, 10_000)])
    x = np.concatenate([sizes, beside, plain]).astype(np.float32)
    return np.concatenate([x, -x, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)])


X = floats()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=c.id)
        for c in CASES
        if c.elementwise and len(c.inputs) == 1 and c.differentiable and c.id not in SKIPPED
    ],
)
def test_floats_have_the_digits_of_doubles(case) -> None:
    found, exact = (case.bind(ad, [ad.tensor(X.astype(t))])() for t in (np.float32, np.float64))
    if found.shape != X.shape or found.dtype != ad.float32:
        return
    a, b = array(found), array(exact)
    distance = ulps(a, b, ad.float32)
    worst = int(distance.argmax())
    assert distance[worst] <= LIMITS.get(case.id, LIMIT), f"{X[worst]!r}: {a[worst]!r} for {b[worst]!r}"
    zeros = X == 0
    assert np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros]))
