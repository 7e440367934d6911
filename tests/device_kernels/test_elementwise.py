"""Elementwise operations on the device against the CPU, over element types, layouts and values at the edges."""

import itertools

import numpy as np
import pytest
from device_checks import agree, on_device

import adjoint as ad
from op_cases import CASES
from op_checks.layout import LAYOUTS

ELEMENTWISE = [c for c in CASES if c.elementwise]
UNARY = [c for c in ELEMENTWISE if len(c.inputs) == 1]
BINARY = [c for c in ELEMENTWISE if len(c.inputs) == 2 and all(i.differentiable for i in c.inputs)]
FLOATING = [ad.float64, ad.float32, ad.float16, ad.bfloat16]
WHOLE = [ad.int64, ad.int32, ad.int16, ad.int8, ad.uint8, ad.bool]
VALUES = [0.0, -0.0, 0.25, 0.5, -0.5, 0.875, 1.0, -1.0, 1.5, 2.0, -2.5, 3.0, 7.25, -8.0, 20.0, -30.0, 100.0]
EDGES = [float("inf"), -float("inf"), float("nan")]


def drawn(case, dtype, shapes=None):
    """The case's inputs, the floating-point ones as `dtype`."""
    made = [ad.tensor(a) for a in case.sample(shapes=shapes)]
    return [t.to(dtype) if t.is_floating_point() else t for t in made]


def compare(case, tensors, dtype, layout=lambda t: t):
    try:
        host = case.run(ad, [layout(t) for t in tensors])
    except (RuntimeError, TypeError) as error:
        pytest.skip(f"not on the CPU: {error}")
    device = on_device(lambda: case.run(ad, [layout(t.cuda()) for t in tensors]))
    agree(device, host, dtype)


@pytest.mark.parametrize("dtype", FLOATING, ids=lambda t: t.name)
@pytest.mark.parametrize("case", ELEMENTWISE, ids=lambda c: c.id)
def test_values(case, dtype):
    compare(case, drawn(case, dtype), dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", ELEMENTWISE, ids=lambda c: c.id)
def test_layouts(case, layout):
    compare(case, drawn(case, ad.float32), ad.float32, layout)


@pytest.mark.parametrize("case", ELEMENTWISE, ids=lambda c: c.id)
@pytest.mark.parametrize("cell", ["empty", "scalar"])
def test_sizes(case, cell):
    shapes = case.shapes_of(cell)
    if shapes is not None:
        compare(case, drawn(case, ad.float32, shapes), ad.float32)


@pytest.mark.parametrize("case", UNARY, ids=lambda c: c.id)
def test_edges_of_one_operand(case):
    compare(case, [ad.tensor(VALUES + EDGES)], ad.float32)


@pytest.mark.parametrize("case", BINARY, ids=lambda c: c.id)
def test_edges_of_two_operands(case):
    pairs = np.array(list(itertools.product(VALUES + EDGES, repeat=2)), np.float32)
    compare(case, [ad.tensor(pairs[:, 0].copy()), ad.tensor(pairs[:, 1].copy())], ad.float32)


@pytest.mark.parametrize("dtype", WHOLE, ids=lambda t: t.name)
@pytest.mark.parametrize("case", UNARY + BINARY, ids=lambda c: c.id)
def test_whole_numbers(case, dtype):
    n = len(case.inputs)
    tensors = [ad.tensor([1, 2, 3, 5, 7, 11, 2, 3][i:] + [1] * i).to(dtype) for i in range(n)]
    compare(case, tensors, ad.float32)


def test_more_than_one_block_and_a_tail():
    x = ad.linspace(-3, 3, 2500)
    agree((x.cuda() * 2).sin(), (x * 2).sin(), ad.float32)


def test_broadcasting_and_numbers():
    x, y = ad.randn(4, 1, 3), ad.randn(5, 1)
    agree(x.cuda() + y.cuda(), x + y, ad.float32)
    agree(2 - x.cuda(), 2 - x, ad.float32)
    agree(x.cuda() * ad.tensor(3.0), x * 3, ad.float32)  # a 0-d tensor of the CPU counts as a number
    agree(x.cuda().half() + 1.5, x.half() + 1.5, ad.float16)
    agree(ad.where(x.cuda() > 0, x.cuda(), 0.0), ad.where(x > 0, x, 0.0), ad.float32)


def test_in_place():
    x = ad.randn(4, 6)
    y = x.cuda()
    y.mul_(2).add_(1)
    y[:, ::2].neg_()
    x.mul_(2).add_(1)
    x[:, ::2].neg_()
    agree(y, x, ad.float32)


def test_types_mix():
    x, y = ad.arange(6).view(2, 3), ad.rand(2, 3)
    agree(x.cuda() * y.cuda(), x * y, ad.float32)
    agree(x.cuda().to(ad.bfloat16), x.to(ad.bfloat16), ad.bfloat16)
