"""Random programs and random arithmetic, against NumPy and finite differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import adjoint as ad
from op_checks.derivative import func_jvp, jvp, vjp
from op_checks.numeric import agree, inner, same_number, tensors
from op_checks.programs import OPERATIONS, WRITES, OnArrays, OnTensors, run

STEPS = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 9), st.integers(0, 9)), min_size=5, max_size=15)
SHAPES = st.sampled_from([((2, 3), (1, 3)), ((3, 3), (2, 3)), ((4, 2), (3, 2))])


def weights(rng, values):
    return [rng.standard_normal(v.shape) for v in values]


@settings(max_examples=150)
@given(STEPS, SHAPES, st.integers(0, 2**16))
def test_program(steps, shapes, seed):
    """Values equal the NumPy replay; forward and reverse derivatives equal its differences."""
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(s) for s in shapes]
    moves = [rng.standard_normal(s) for s in shapes]
    expected = run(OnArrays, steps, inputs)
    us = weights(rng, expected)

    def on_arrays(t):
        values = run(OnArrays, steps, [x + t * v for x, v in zip(inputs, moves, strict=True)])
        return sum(float((u * y).sum()) for u, y in zip(us, values, strict=True))

    def on_tensors(*xs):
        return run(OnTensors, steps, xs)

    xs, vs = tensors(inputs), tensors(moves)
    agree(on_tensors(*xs), expected, 1e-12, 1e-12)
    h = 1e-5
    difference = (8 * (on_arrays(h) - on_arrays(-h)) - (on_arrays(2 * h) - on_arrays(-2 * h))) / (12 * h)
    scale = 1.0 + sum(float(np.abs(y).sum()) for y in expected)
    backward = vjp(on_tensors, xs, tensors(us))
    same_number(inner(backward, vs), difference, 1e-7, scale)
    same_number(inner(jvp(on_tensors, xs, vs), tensors(us)), inner(backward, vs), 1e-11, scale)
    agree(func_jvp(on_tensors, xs, vs), jvp(on_tensors, xs, vs), 1e-11, 1e-11)


@settings(max_examples=60)
@given(STEPS, SHAPES, st.integers(0, 2**16))
def test_program_batched(steps, shapes, seed):
    """vmap of a program without writes equals a loop over it."""
    rng = np.random.default_rng(seed)
    reading = [step for step in steps if step[0] not in WRITES]
    batch = tensors([rng.standard_normal((3, *s)) for s in shapes])
    together = ad.vmap(lambda *xs: tuple(run(OnTensors, reading, xs)))(*batch)
    for b in range(3):
        agree([y[b] for y in together], run(OnTensors, reading, [x[b] for x in batch]), 1e-12, 1e-12)


ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "atan2": np.arctan2,
}  # fmt: skip


def laid_out(draw, array):
    """The tensor of `array` in a random layout: dimensions permuted in memory, every second element, or from an offset."""
    t = ad.from_numpy(array.copy())
    order = draw(st.permutations(range(array.ndim)))
    t = t.permute(order).contiguous().permute([order.index(d) for d in range(array.ndim)])
    if array.ndim and draw(st.booleans()):
        t = ad.stack([t, t], -1)[..., draw(st.integers(0, 1))]
    return t


@settings(max_examples=150)
@given(st.data(), st.sampled_from(sorted(ARITHMETIC)), st.integers(0, 2**16))
def test_broadcast_arithmetic(data, name, seed):
    """Any two shapes that broadcast, at any strides: NumPy's value, and gradients of the inputs' own shapes."""
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0))
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.standard_normal(s)) for s in shapes.input_shapes]
    xs = [laid_out(data.draw, a) for a in arrays]
    f = lambda a, b: [getattr(ad, name)(a, b)]  # noqa: E731
    agree(f(*xs), [np.asarray(ARITHMETIC[name](*arrays))], 1e-12, 1e-12)
    us, vs = tensors([rng.standard_normal(shapes.result_shape)]), tensors([rng.standard_normal(a.shape) for a in arrays])
    backward = vjp(f, xs, us)
    assert [tuple(g.shape) for g in backward] == [a.shape for a in arrays]
    same_number(inner(backward, vs), inner(us, jvp(f, xs, vs)), 1e-12, 1.0 + float(us[0].abs().sum()))
