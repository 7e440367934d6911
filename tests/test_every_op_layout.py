"""Every operation at other strides, at zero sizes and 0-d, in place, and batched."""

import pytest

import adjoint as ad
from op_cases import CASES
from op_checks.cells import differentiable, every, posed, problem, results
from op_checks.derivative import gradients, jvp, leaves, vjp
from op_checks.layout import LAYOUTS
from op_checks.numeric import agree, directions, floating, inner, is_floating, same_number, tensors

LAYOUT_CASES = [
    pytest.param(
        c,
        layout,
        id=f"{c.id}-{layout.__name__}",
        marks=[pytest.mark.skip(reason=c.skip[layout.__name__])] if layout.__name__ in c.skip else [],
    )
    for c in CASES
    if any(i.shape for i in c.inputs)
    for layout in LAYOUTS
]


@pytest.mark.filterwarnings("ignore:torch.searchsorted")
@pytest.mark.parametrize("case, layout", LAYOUT_CASES)
def test_layout(case, layout):
    """Value and both derivatives do not depend on the strides of inputs, cotangents and tangents."""
    inputs = [layout(t) for t in tensors(case.sample())]
    plain = [t.contiguous() if t.is_contiguous() else t.clone(memory_format=ad.contiguous_format) for t in inputs]
    agree(results(case, inputs), results(case, plain), rtol=1e-12, atol=1e-13)
    if not case.differentiable:
        return
    (f, xs), (g, plain_xs) = posed(case, inputs), posed(case, plain)
    rng = case.rng(1)
    us, vs = directions(rng, f(*xs)), directions(rng, xs)
    agree(vjp(f, xs, [layout(u) for u in us]), vjp(g, plain_xs, [layout(u).contiguous() for u in us]), 1e-11, 1e-12)
    agree(jvp(f, xs, [layout(v) for v in vs]), jvp(g, plain_xs, [layout(v).contiguous() for v in vs]), 1e-11, 1e-12)


def check_shapes(case, cell):
    arrays = case.sample(shapes=case.shapes_of(cell))
    ys = results(case, tensors(arrays))
    if case.ref is not None:
        agree(ys, case.reference(arrays))
    if case.differentiable:
        f, xs = problem(case, shapes=case.shapes_of(cell))
        rng = case.rng(1)
        us, vs = directions(rng, f(*xs)), directions(rng, xs)
        backward, forward = vjp(f, xs, us), jvp(f, xs, vs)
        assert [g.shape for g in backward] == [x.shape for x in xs]
        assert [t.shape for t in forward] == [y.shape for y in floating(ys)]
        same_number(inner(us, forward), inner(backward, vs), 1e-12)


@every("empty", lambda c: c.shapes_of("empty"))
def test_zero_size(case):
    check_shapes(case, "empty")


@every("scalar", lambda c: c.shapes_of("scalar"))
def test_zero_dim(case):
    check_shapes(case, "scalar")


def inplace(case):
    return case.inplace


def on_copy(case, inputs):
    """The case in place, on a copy of its first input."""
    return case.run_inplace(ad, [inputs[0].clone(), *inputs[1:]])


@every("inplace", inplace)
def test_inplace(case):
    """In place equals out of place: value, identity, version, gradient and tangent."""
    inputs = tensors(case.sample())
    target = inputs[0].clone()
    version = target._version
    assert case.run_inplace(ad, [target, *inputs[1:]]) is target
    assert target._version > version
    f, xs = posed(case, inputs)
    agree([target], f(*xs))
    where = case.differentiable

    def g(*xs):
        full = list(inputs)
        for i, x in zip(where, xs, strict=True):
            full[i] = x
        return [on_copy(case, full)]

    rng = case.rng(1)
    us, vs = directions(rng, f(*xs)), directions(rng, xs)
    agree(vjp(g, xs, us), vjp(f, xs, us))
    agree(jvp(g, xs, vs), jvp(f, xs, vs))


@every("inplace", inplace)
def test_inplace_on_an_inference_tensor(case):
    """Inference tensors are not written to where memory might be saved."""
    inputs = tensors(case.sample())
    with ad.inference_mode():
        target = inputs[0].clone()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        case.run_inplace(ad, [target, *inputs[1:]])
    with ad.inference_mode():
        assert case.run_inplace(ad, [target, *inputs[1:]]) is target


@every("inplace_view", inplace)
def test_inplace_on_view(case):
    """Writing through a view is seen, and differentiated, through its base."""
    inputs = tensors(case.sample())
    first, rest = inputs[0], inputs[1:]
    base = ad.stack([first, first + 0.1])
    u = directions(case.rng(1), [base])

    def through_view(base):
        base = base.clone()
        case.run_inplace(ad, [base[1], *rest])
        return [base]

    def apart(base):
        return [ad.stack([base[0], floating(case.run(ad, [base[1], *rest]))[0]])]

    agree(through_view(base), apart(base))
    agree(vjp(through_view, [base], u), vjp(apart, [base], u))
    agree(jvp(through_view, [base], u), jvp(apart, [base], u))


@every("inplace_alias", lambda c: c.inplace and c.alias)
def test_inplace_on_itself(case):
    """`x.op_(x)` has the derivative of `op(x, x)` in forward mode; backward has it too or refuses, and never lies."""
    f, xs = problem(case)
    x, rest = xs[0].abs() + 0.3, tensors(case.sample())[2:]
    twice = lambda x: f(x, x, *rest)  # noqa: E731

    def g(x):
        x = x.clone()
        return [case.run_inplace(ad, [x, x, *rest])]

    uv = directions(case.rng(1), [x])
    agree(g(x), twice(x))
    agree(jvp(g, [x], uv), jvp(twice, [x], uv))
    try:
        backward = vjp(g, [x], uv)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
    else:
        agree(backward, vjp(twice, [x], uv))


BATCH = 3


def batches(case):
    """Each way to batch the inputs: all along the front, and each alone along its last dimension."""
    samples = [tensors(case.sample(seed)) for seed in range(BATCH)]
    rows = list(zip(*samples, strict=True))
    whole = [ad.stack(row) for row in rows]
    yield whole, tuple(0 for _ in rows)
    for i, row in enumerate(rows):
        if is_floating(row[0]) and len(rows) > 1 and "vmap_alone" not in case.skip:
            mixed, dims = list(samples[0]), [None] * len(rows)
            mixed[i], dims[i] = ad.stack(row, row[0].dim()), row[0].dim()
            yield mixed, tuple(dims)


def member(inputs, dims, b):
    return [t if d is None else t.select(d, b) for t, d in zip(inputs, dims, strict=True)]


@every("vmap", lambda c: c.inputs)
def test_vmap(case):
    for inputs, dims in batches(case):
        together = ad.vmap(lambda *ts: tuple(results(case, list(ts))), in_dims=dims)(*inputs)
        for b in range(BATCH):
            agree([y[b] for y in together], results(case, member(inputs, dims, b)), 1e-10, 1e-11)


def batched_problem(case):
    """All inputs batched, with cotangents and tangents of each member."""
    inputs, dims = next(batches(case))
    rng, where = case.rng(1), case.differentiable
    each = [posed(case, member(inputs, dims, b)) for b in range(BATCH)]
    us, vs = zip(*((directions(rng, f(*xs)), directions(rng, xs)) for f, xs in each), strict=True)
    return inputs, where, each, us, vs


def stacked(rows):
    return [ad.stack(list(column)) for column in zip(*rows, strict=True)]


@every("vmap_of_vjp", differentiable)
def test_vmap_of_vjp(case):
    inputs, where, each, us, _ = batched_problem(case)

    def one(inputs, us):
        f, xs = posed(case, list(inputs))
        return ad.func.vjp(lambda *xs: tuple(f(*xs)), *xs)[1](tuple(us))

    together = ad.vmap(one)(tuple(inputs), tuple(stacked(us)))
    agree(together, stacked([vjp(f, xs, u) for (f, xs), u in zip(each, us, strict=True)]), 1e-10, 1e-11)


@every("vmap_of_jvp", differentiable)
def test_vmap_of_jvp(case):
    inputs, where, each, _, vs = batched_problem(case)

    def one(inputs, vs):
        f, xs = posed(case, list(inputs))
        return ad.func.jvp(lambda *xs: tuple(f(*xs)), tuple(xs), tuple(vs))[1]

    together = ad.vmap(one)(tuple(inputs), tuple(stacked(vs)))
    agree(together, stacked([jvp(f, xs, v) for (f, xs), v in zip(each, vs, strict=True)]), 1e-10, 1e-11)


@every("vjp_of_vmap", differentiable)
def test_vjp_of_vmap(case):
    inputs, where, each, us, _ = batched_problem(case)
    together = list(inputs)
    xs = leaves([inputs[i] for i in where])
    for i, x in zip(where, xs, strict=True):
        together[i] = x
    ys = ad.vmap(lambda *ts: tuple(floating(case.run(ad, list(ts)))))(*together)
    expected = stacked([vjp(f, x, u) for (f, x), u in zip(each, us, strict=True)])
    agree(gradients(list(ys), xs, stacked(us)), expected, 1e-10, 1e-11)
