"""Every operation: values and derivatives to second order, from the cases in `op_cases`."""

import numpy as np
import pytest

import adjoint as ad
from op_checks.cells import differentiable, every, posed, problem, results
from op_checks.derivative import SECOND_ORDER, difference, func_jvp, func_vjp, jvp, vjp
from op_checks.numeric import agree, directions, floating, inner, same_number, tensors


def supports_complex(case):
    return case.complex and case.differentiable


def check_adjoint(case, f, xs):
    """`<u, J v> = <J^T u, v>` to rounding, by both faces of each mode."""
    rng = case.rng(1)
    ys = f(*xs)
    us, vs = directions(rng, ys), directions(rng, xs)
    forward, backward = jvp(f, xs, vs), vjp(f, xs, us)
    scale = sum(float((u.abs() * t.abs()).sum()) for u, t in zip(us, forward, strict=True))
    same_number(inner(us, forward), inner(backward, vs), 1e-12, scale)
    agree(func_jvp(f, xs, vs), forward)
    agree(func_vjp(f, xs, us), backward)
    for y, t in zip(ys, forward, strict=True):
        assert (t.shape, t.dtype) == (y.shape, y.dtype)
    for x, g in zip(xs, backward, strict=True):
        assert (g.shape, g.dtype) == (x.shape, x.dtype)


def check_order1(case, f, xs):
    """`<J^T u, v>` against central differences of `<u, f>`."""
    rng = case.rng(2)
    us, vs = directions(rng, f(*xs)), directions(rng, xs)
    same_number(inner(vjp(f, xs, us), vs), difference(lambda *xs: inner(us, f(*xs)), xs, vs), 1e-7)


def check_order2(case, f, xs, mode):
    """The second derivative against central differences of the first."""
    rng = case.rng(3)
    us, vs, ws = directions(rng, f(*xs)), directions(rng, xs), directions(rng, xs)
    expected = difference(lambda *xs: inner(vjp(f, xs, us), vs), xs, ws)
    same_number(mode(f, xs, us, vs, ws), expected, 1e-6)


@every("value", lambda c: c.ref is not None)
def test_value(case):
    arrays = case.sample()
    agree(results(case, tensors(arrays)), case.reference(arrays))


@every("complex_value", lambda c: c.complex and c.ref is not None)
def test_complex_value(case):
    arrays = case.sample(imaginary=True)
    agree(results(case, tensors(arrays)), case.reference(arrays))


@every("single")
def test_single_precision(case):
    """float32 agrees with float64 at the same point, and stays float32."""
    single = tensors(case.sample(), ad.float32)
    double = [t.double() if t.is_floating_point() else t for t in single]
    ys, exact = results(case, single), results(case, double)
    agree(ys, exact, rtol=1e-5, atol=1e-5)
    narrow = {ad.float64: ad.float32, ad.complex128: ad.complex64}
    if any(t.is_floating_point() for t in single):
        assert [y.dtype for y in ys] == [narrow.get(y.dtype, y.dtype) for y in exact]


@every("adjoint", differentiable)
def test_adjoint(case):
    check_adjoint(case, *problem(case))


@every("order1", differentiable)
def test_first_derivative(case):
    check_order1(case, *problem(case))


@every("reverse_over_reverse", differentiable)
def test_reverse_over_reverse(case):
    check_order2(case, *problem(case), SECOND_ORDER[0])


@every("forward_over_reverse", differentiable)
def test_forward_over_reverse(case):
    check_order2(case, *problem(case), SECOND_ORDER[1])


@every("reverse_over_forward", differentiable)
def test_reverse_over_forward(case):
    check_order2(case, *problem(case), SECOND_ORDER[2])


@every("forward_over_forward", differentiable)
def test_forward_over_forward(case):
    check_order2(case, *problem(case), SECOND_ORDER[3])


@every("complex_adjoint", supports_complex)
def test_complex_adjoint(case):
    check_adjoint(case, *problem(case, imaginary=True))


@every("complex_order1", supports_complex)
def test_complex_first_derivative(case):
    check_order1(case, *problem(case, imaginary=True))


@pytest.mark.parametrize("mode", SECOND_ORDER, ids=lambda mode: mode.__name__)
@every("complex_order2", supports_complex)
def test_complex_second_derivative(case, mode):
    check_order2(case, *problem(case, imaginary=True), mode)


@every("partial", lambda c: len(c.differentiable) > 1)
def test_partial_derivatives(case):
    """Each input alone: the others need no gradient and carry no tangent."""
    f, xs = problem(case)
    rng = case.rng(4)
    us, vs = directions(rng, f(*xs)), directions(rng, xs)
    everything = vjp(f, xs, us)
    for i, (x, v) in enumerate(zip(xs, vs, strict=True)):
        g = lambda x, i=i: f(*xs[:i], x, *xs[i + 1 :])  # noqa: E731
        agree(vjp(g, [x], us), everything[i : i + 1])
        same_number(inner(us, jvp(g, [x], [v])), inner(everything[i : i + 1], [v]), 1e-11)


@every("kinks", lambda c: c.kinks)
def test_kinks(case):
    """At kinks and ties the gradient is the documented choice, and forward mode makes the same one."""
    for inputs, expected in case.kinks:
        f, xs = posed(case, tensors([np.asarray(i, dtype=np.float64) for i in inputs]))
        ys = f(*xs)
        agree(vjp(f, xs, [ad.ones_like(y) for y in ys]), [np.asarray(e, dtype=np.float64) for e in expected])
        if "kinks_adjoint" not in case.skip:
            check_adjoint(case, f, xs)


@every("alias", lambda c: c.alias)
def test_one_tensor_twice(case):
    """`f(x, x)` differentiates like `f(x, y)` at `y = x`, both gradients added."""
    f, xs = problem(case)
    x, rest = xs[0].abs() + 0.3, xs[2:]
    twice = lambda x: f(x, x, *rest)  # noqa: E731
    apart = lambda x, y: f(x, y, *rest)  # noqa: E731
    rng = case.rng(5)
    us, (v,) = directions(rng, twice(x)), directions(rng, [x])
    first, second = vjp(apart, [x, x.clone()], us)
    agree(vjp(twice, [x], us), [first + second])
    agree(jvp(twice, [x], [v]), jvp(apart, [x, x.clone()], [v, v.clone()]))


@every("leaves_inputs", lambda c: True)
def test_inputs_are_left_alone(case):
    """No operation writes to its arguments."""
    before = case.sample()
    inputs = tensors(before)
    floating(case.run(ad, inputs))
    agree(inputs, before, rtol=0, atol=0)
