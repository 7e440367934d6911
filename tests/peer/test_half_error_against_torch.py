"""In half precision no result and no gradient is further from the truth than PyTorch's."""

import numpy as np
import pytest

import adjoint as ad
from op_checks.halves import MEASURED, TYPES, computed, distances, report

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

FACTOR, SLACK = 1.1, 0.55
"How much further it may be: by the rounding of a result that is lucky there."

FURTHER: dict[str, str] = {}
"Cases that are, each with its reason."


def both(case, dtype):
    """Our distances and PyTorch's, NaN where it has no kernel."""
    exact = computed(ad, case, dtype, "float64")
    ours = distances(ad, case, dtype, exact)
    try:
        return ours, distances(torch, case, dtype, exact)
    except (RuntimeError, TypeError, AttributeError, ValueError):
        return ours, (np.nan, np.nan)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("case", [c for c in MEASURED if c.id not in FURTHER], ids=lambda c: c.id)
def test_not_further_than_torch(case, dtype):
    ours, theirs = both(case, dtype)
    for what, a, b in zip(("value", "gradient"), ours, theirs, strict=True):
        assert np.isnan(b) or a <= max(FACTOR * b, 0.55) + SLACK * (what == "gradient"), f"{what}: {a:.2f} instead of {b:.2f}"


def test_distributions():
    rows = [(f"{c.id} {dtype}", *both(c, dtype)) for c in MEASURED for dtype in TYPES]
    known = [r for r in rows if not np.isnan(r[2]).any()]
    print("\nadjoint\n" + report([(n, *a) for n, a, _ in rows]) + "\nPyTorch\n" + report([(n, *b) for n, _, b in known]))
    for at in (0, 1):
        assert np.quantile([r[1][at] for r in known], 0.99) <= np.quantile([r[2][at] for r in known], 0.99)
