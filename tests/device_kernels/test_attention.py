"""Attention in one pass on the device: values and derivatives against the CPU's, which composes it, over blocks, masks and types."""

import math

import pytest
from attention_checks import SIZES, attend, operands, run
from device_checks import agree

import adjoint as ad


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_over_blocks(sizes, causal):
    given = operands(ad.float64, *sizes, leading=(1, 2))
    agree(run("cuda", given, is_causal=causal), run("cpu", given, is_causal=causal), ad.float64)


@pytest.mark.parametrize("shape", [(4, 5), (2, 1, 1, 5), (2, 2, 4, 5), (2, 4, 1)], ids=str)
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_masks(shape, kind):
    m = (ad.arange(math.prod(shape), dtype=ad.float64) * 1.3).cos().view(shape)
    m = m < 0.6 if kind == "bool" else m
    if kind == "bool":
        m[..., 0] = True
    given = operands(ad.float64, 4, 5)
    agree(run("cuda", given, attn_mask=m), run("cpu", given, attn_mask=m), ad.float64)


@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.bfloat16], ids=lambda t: t.name)
def test_element_types(dtype):
    given = operands(dtype, 20, 40)
    for device, host in zip(run("cuda", given, is_causal=True), run("cpu", given, is_causal=True), strict=True):
        agree([device], [host], dtype)


@pytest.mark.parametrize("leading", [(), (3,), (2, 1, 2)], ids=str)
def test_leading_dimensions(leading):
    given = operands(ad.float64, 4, 5, leading=leading)
    agree(run("cuda", given, scale=0.3), run("cpu", given, scale=0.3), ad.float64)


def test_strided_heads_and_second_derivatives():
    given = [x.transpose(1, 2) for x in operands(ad.float64, 3, 3, leading=(2, 4))]
    agree(run("cuda", given, order=2), run("cpu", given, order=2), ad.float64)


def test_lanes_and_tangents():
    def f(device):
        given = [x.to(device) for x in operands(ad.float64, 3, 4)]
        y, t = ad.func.jvp(lambda *x: ad.vmap(attend)(*x), tuple(given), tuple(x.cos() for x in given))
        return [y, t]

    agree(f("cuda"), f("cpu"), ad.float64)


def test_mask_that_learns():
    def f(device):
        given = [x.to(device) for x in operands(ad.float64, 3, 4)]
        m = ad.linspace(-1, 1, 12, dtype=ad.float64).view(3, 4).to(device).requires_grad_()
        return ad.autograd.grad((attend(*given, attn_mask=m) ** 2).sum(), m)

    agree(f("cuda"), f("cpu"), ad.float64)


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_no_matrix_of_weights(p):
    n = 160
    given = [ad.zeros(1, 1, n, 4, device="cuda", requires_grad=True) for _ in range(3)]
    ad.cuda.reset_peak_memory_stats()
    before = ad.cuda.memory_allocated()
    attend(*given, dropout_p=p, is_causal=True).sum().backward()
    assert ad.cuda.max_memory_allocated() - before < n * n * 4


def test_captured():
    given = [x.cuda() for x in operands(ad.float32, 6, 6, features=4, outputs=4)]
    with ad.cuda.stream(ad.cuda.Stream()):
        attend(*given, is_causal=True)
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        y = attend(*given, is_causal=True)
    given[0].copy_(given[0].flip(-1))
    graph.replay()
    agree([y], [attend(*(x.cpu() for x in given), is_causal=True)], ad.float32)
