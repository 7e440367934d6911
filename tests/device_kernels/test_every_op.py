"""Every case of tests/op_cases on the device against the CPU: values, and derivatives through the graph."""

import pytest
from device_checks import agree, on_device, tensors_of

import adjoint as ad
from op_cases import CASES

FLOATING = [ad.float64, ad.float32, ad.bfloat16]


def mixed(case):
    """Cases of linear algebra add a matrix of their own to their inputs."""
    return case.call is not None


def inputs(case, dtype):
    made = [ad.tensor(a) for a in case.sample()]
    return [t.to(dtype) if t.is_floating_point() else t for t in made]


@pytest.mark.parametrize("dtype", FLOATING, ids=lambda t: t.name)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_values(case, dtype):
    tensors = inputs(case, dtype)
    try:
        host = case.run(ad, tensors)
    except (RuntimeError, TypeError) as error:
        pytest.skip(f"not on the CPU: {error}")
    agree(on_device(lambda: case.run(ad, [t.cuda() for t in tensors]), mixed(case)), host, dtype)


def gradients(case, tensors):
    leaves = [tensors[i].requires_grad_() for i in case.differentiable]
    results = [y for y in tensors_of(case.run(ad, tensors)) if y.requires_grad]
    weights = [ad.linspace(0.5, 1.5, max(y.numel(), 1), dtype=ad.float64)[: y.numel()].view(y.shape).to(y) for y in results]
    return ad.autograd.grad(results, leaves, weights, allow_unused=True)


@pytest.mark.parametrize("case", [c for c in CASES if c.differentiable], ids=lambda c: c.id)
def test_derivatives(case):
    host = gradients(case, inputs(case, ad.float64))
    device = on_device(lambda: gradients(case, [t.cuda() for t in inputs(case, ad.float64)]), mixed(case))
    for d, h in zip(device, host, strict=True):
        assert (d is None) == (h is None)
    agree([d for d in device if d is not None], [h for h in host if h is not None], ad.float64)
