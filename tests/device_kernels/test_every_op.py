"""Every case of tests/op_cases on the device against the CPU: values, and derivatives through the graph."""

import pytest
from device_checks import agree, on_device, real_parts, tensors_of

import adjoint as ad
from op_cases import CASES

TYPES = [
    *(ad.float64, ad.float32, ad.float16, ad.bfloat16, ad.complex64, ad.complex128),
    *(ad.int64, ad.int32, ad.int16, ad.int8, ad.uint8, ad.bool),
]


def inputs(case, dtype):
    made = [ad.tensor(a) for a in case.sample()]
    return [as_type(t, dtype) if t.is_floating_point() else t for t in made]


def as_type(x, dtype):
    """The same numbers; whole ones for integers, where infinities and NaN are the greatest, behind which nothing is sorted."""
    if dtype.is_complex:
        return ad.complex(x.double(), x.double() * 0.7 + 0.3).to(dtype)
    if dtype.is_floating_point:
        return x.to(dtype)
    whole = (x * 3).trunc().nan_to_num(nan=100, posinf=100, neginf=-100)
    return whole.to(dtype) if dtype not in (ad.uint8, ad.bool) else whole.abs().clamp(0, 100).to(dtype)


def as_floating(dtype):
    return dtype.is_floating_point or dtype.is_complex


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_values(case):
    reached = 0
    for dtype in TYPES:
        tensors = inputs(case, dtype)
        try:
            host = case.run(ad, tensors)
        except (RuntimeError, TypeError, ValueError):
            continue  # not on the CPU
        device = on_device(lambda tensors=tensors: case.run(ad, [t.cuda() for t in tensors]))
        if case.name == "special.entr" and dtype == ad.complex128:
            continue  # goes by float32
        agree(real_parts(device), real_parts(host), dtype if as_floating(dtype) else ad.float32)
        reached += 1
    assert reached


def gradients(case, tensors):
    leaves = [tensors[i].requires_grad_() for i in case.differentiable]
    results = [y for y in tensors_of(case.run(ad, tensors)) if y.requires_grad]
    weights = [ad.linspace(0.5, 1.5, max(y.numel(), 1), dtype=ad.float64)[: y.numel()].view(y.shape).to(y) for y in results]
    return ad.autograd.grad(results, leaves, weights, allow_unused=True)


@pytest.mark.parametrize("case", [c for c in CASES if c.differentiable], ids=lambda c: c.id)
def test_derivatives(case):
    host = gradients(case, inputs(case, ad.float64))
    device = on_device(lambda: gradients(case, [t.cuda() for t in inputs(case, ad.float64)]))
    for d, h in zip(device, host, strict=True):
        assert (d is None) == (h is None)
    agree([d for d in device if d is not None], [h for h in host if h is not None], ad.float64)


def tangents(case, tensors):
    """The derivative in one direction, of what has one."""
    chosen = case.differentiable

    def f(*some):
        every = [*tensors]
        for i, x in zip(chosen, some, strict=True):
            every[i] = x
        return tuple(real_parts(case.run(ad, every)))

    points = tuple(tensors[i] for i in chosen)
    return ad.func.jvp(f, points, tuple((x * 0.5 + 0.25).detach() for x in points))[1]


@pytest.mark.parametrize("case", [c for c in CASES if c.differentiable], ids=lambda c: c.id)
def test_forward_mode(case):
    try:
        host = tangents(case, inputs(case, ad.float64))
    except (RuntimeError, TypeError, ValueError) as error:
        pytest.skip(f"not on the CPU: {error}")
    agree(on_device(lambda: tangents(case, [t.cuda() for t in inputs(case, ad.float64)])), host, ad.float64)
