"""What an operation does on its way to finite results raises no alarm: values, gradients, tangents, second derivatives."""

import numpy as np
import pytest

import adjoint as ad
from op_cases import CASES
from op_checks.cells import posed
from op_checks.derivative import jvp, reverse_over_reverse, vjp
from op_checks.numeric import directions, tensors


def is_finite(values):
    values = values if isinstance(values, list) else [values]
    return all(bool(ad.isfinite(v).all()) for v in values)


def check(case, arrays):
    f, xs = posed(case, tensors(arrays))
    try:
        ys = f(*xs)
    except ad.linalg.LinAlgError:
        return
    if not xs or not is_finite(ys):
        return
    us, vs, ws = directions(case.rng(1), ys), directions(case.rng(2), xs), directions(case.rng(3), xs)
    runs = [lambda: f(*xs), lambda: vjp(f, xs, us), lambda: jvp(f, xs, vs), lambda: reverse_over_reverse(f, xs, us, vs, ws)]
    for run in runs:
        if is_finite(run()):
            with ad.autograd.detect_nan(inf=True):
                run()


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in CASES if c.differentiable])
def test_no_false_alarm(case):
    """At ordinary inputs, at zeros, at ones, and at the points where derivatives are a choice."""
    sample = case.sample()
    check(case, sample)
    singular = "linalg" in case.name  # such matrices are: errors, and derivatives that do not exist
    for constant in () if singular else (0, 1):
        check(case, [np.full_like(a, constant) if a.dtype.kind == "f" else a for a in sample])
    for inputs, _ in case.kinks:
        check(case, [np.asarray(i, dtype=np.float64) for i in inputs])
