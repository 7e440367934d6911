"""Dropout within attention on the device: the weights that the CPU drops, forward and in derivatives, without a matrix of them."""

from collections import Counter

import pytest
from attention_checks import SIZES, attend, operands, run
from device_checks import ON_GPU, agree

import adjoint as ad


def same(given, dtype=ad.float64, order=1, **options):
    """Both devices after one seed, twice: values and gradients agree, and the generators have moved alike."""
    results = []
    for device in ("cuda", "cpu"):
        ad.manual_seed(5)
        both = [run(device, given, order, **options) for _ in range(2)]
        assert not ad.equal(both[0][0], both[1][0])
        results.append([*both[0], *both[1], ad.rand(3, device=device, dtype=dtype)])
    for device, host in zip(*results, strict=True):
        agree([device], [host], dtype)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [*SIZES.values(), (70, 52)], ids=[*SIZES, "fours"])
def test_over_blocks(sizes, causal):
    same(operands(ad.float64, *sizes, leading=(1, 2)), dropout_p=0.3, is_causal=causal)


@pytest.mark.parametrize("keys", [40, 41])
@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.bfloat16], ids=lambda t: t.name)
def test_element_types(dtype, keys):
    same(operands(dtype, 20, keys), dtype, dropout_p=0.5)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_masks(kind):
    m = (ad.arange(2 * 4 * 8, dtype=ad.float64) * 1.3).cos().view(2, 1, 4, 8)
    if kind == "bool":
        m = m < 0.6
        m[0, :, 1] = False  # a query that sees nothing
    same(operands(ad.float64, 4, 8), dropout_p=0.2, attn_mask=m)


def test_shared_heads():
    q, k, v = operands(ad.float64, 4, 8, leading=(2, 4))
    same([q, k[:, :2], v[:, :2]], dropout_p=0.4, enable_gqa=True)


def test_second_derivatives():
    same(operands(ad.float64, 4, 7), order=2, dropout_p=0.4)


def test_a_mask_that_learns():
    def f(device):
        ad.manual_seed(3)
        given = [x.to(device) for x in operands(ad.float64, 3, 4)]
        m = ad.linspace(-1, 1, 12, dtype=ad.float64).view(3, 4).to(device).requires_grad_()
        return ad.autograd.grad((attend(*given, attn_mask=m, dropout_p=0.4) ** 2).sum(), m)

    agree(f("cuda"), f("cpu"), ad.float64)


def test_tangents():
    def f(device):
        ad.manual_seed(7)
        given = [x.to(device) for x in operands(ad.float64, 3, 4)]
        with ad.autograd.forward_ad.dual_level():
            y = attend(*(ad.autograd.forward_ad.make_dual(x, x.cos()) for x in given), dropout_p=0.4)
            return [*ad.autograd.forward_ad.unpack_dual(y)]

    agree(f("cuda"), f("cpu"), ad.float64)


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_lanes(randomness):
    def f(device):
        ad.manual_seed(7)
        given = [x.to(device) for x in operands(ad.float64, 3, 4)]
        return [ad.vmap(lambda *x: attend(*x, dropout_p=0.4), randomness=randomness)(*given)]

    agree(f("cuda"), f("cpu"), ad.float64)


def test_all_and_bad_probabilities():
    given = [x.cuda().requires_grad_() for x in operands(ad.float32, 3, 4)]
    y = attend(*given, dropout_p=1.0)
    assert (y == 0).all() and all((g == 0).all() for g in ad.autograd.grad(y.sum(), given))
    for p in (-0.1, 1.5):
        with pytest.raises(ValueError, match="attention: dropout probability has to be between 0 and 1"):
            attend(*given, dropout_p=p)


@pytest.mark.skipif(ON_GPU, reason="asks the interpreter what it ran")
def test_launches(stand_in):
    given = [x.cuda().requires_grad_() for x in operands(ad.float32, 3, 4)]
    stand_in.launched.clear()
    y = attend(*given, dropout_p=0.5)
    assert stand_in.launched == ["attention"]
    ad.autograd.grad(y, given, ad.ones_like(y))
    launched = Counter(name for name in stand_in.launched if name.startswith(("attention", "random")))
    assert launched == Counter(["attention", "attention_of_queries", "attention_of_keys", "attention_of_values"])


def test_each_replay_drops_others():
    given = [x.cuda().requires_grad_() for x in operands(ad.float32, 6, 8, features=4, outputs=4)]

    def step():
        y = attend(*given, dropout_p=0.5)
        z = attend(*given, dropout_p=0.5)
        return [y, z, *ad.autograd.grad((y * z).sum(), given)]

    ad.manual_seed(6)
    with ad.cuda.stream(ad.cuda.Stream()):
        eager = [step() for _ in range(3)]
    ad.manual_seed(6)
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        captured = step()
    for expected in eager:
        graph.replay()
        for got, wanted in zip(captured, expected, strict=True):
            assert ad.equal(got, wanted)
    assert not ad.equal(eager[0][0], eager[1][0]) and not ad.equal(eager[0][0], eager[0][1])


def test_derivatives_outside_of_the_capture():
    """They are of the last replay, also when the graph is gone."""
    given = [x.cuda().requires_grad_() for x in operands(ad.float32, 6, 8)]
    ad.manual_seed(6)
    expected = ad.autograd.grad(attend(*given, dropout_p=0.5).sum(), given, create_graph=True)
    expected = [*expected, ad.autograd.grad(expected[0].sum(), given[1])[0]]
    ad.manual_seed(6)
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        y = attend(*given, dropout_p=0.5)
    graph.replay()
    graph.reset()
    got = ad.autograd.grad(y.sum(), given, create_graph=True)
    got = [*got, ad.autograd.grad(got[0].sum(), given[1])[0]]
    for a, b in zip(got, expected, strict=True):
        assert ad.equal(a, b)


def test_a_checkpoint_drops_the_same():
    given = [x.cuda().requires_grad_() for x in operands(ad.float64, 6, 8)]
    f = lambda *x: attend(*x, dropout_p=0.5)  # noqa: E731
    results = []
    for call in (f, lambda *x: ad.utils.checkpoint.checkpoint(f, *x, use_reentrant=False)):
        ad.manual_seed(1)
        y = call(*given)
        results.append([y.detach(), *ad.autograd.grad(y.square().sum(), given)])
    for a, b in zip(*results, strict=True):
        assert ad.equal(a, b)
