"""Rules of many steps on large operands go tile by tile: the same bits as those of small operands, which go whole."""

import pytest

import adjoint as ad
from adjoint import autograd
from adjoint_core import _core

F = ad.nn.functional
LARGE = (1 << 18) + 4099  # elements: no whole number of tiles
UNARY = {
    "exp2": ad.exp2,
    "rsqrt": ad.rsqrt,
    "logit": lambda x: ad.logit(x, 0.2),
    "mish": F.mish,
    "softplus": lambda x: F.softplus(x, 3, 2),
    "softsign": F.softsign,
    "entr": ad.special.entr,
}
BINARY = {
    "atan2": ad.atan2,
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(x, y, reduction="none"),
    "div": ad.div,
    "hypot": ad.hypot,
    "logaddexp": ad.logaddexp,
    "pow": ad.pow,
    "remainder": ad.remainder,
}
FUNCTIONS = {**{name: (f, 1) for name, f in UNARY.items()}, **{name: (f, 2) for name, f in BINARY.items()}}


def numbers(seed, dtype=ad.float32, n=LARGE):
    return (ad.rand(n, generator=ad.Generator().manual_seed(seed)) * 0.9 + 0.05).to(dtype)


def gradients(f, given, v):
    given = [x.detach().requires_grad_() for x in given]
    return autograd.grad(f(*given), given, v)


def in_parts(f, given, v):
    """The gradients of eight parts, each too small for tiles, one behind the other."""
    parts = [gradients(f, each, w) for *each, w in zip(*(x.chunk(8) for x in (*given, v)))]
    return [ad.cat(p) for p in zip(*parts)]


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_of_small_operands(name, dtype):
    f, count = FUNCTIONS[name]
    given = [numbers(seed, dtype) for seed in range(count)]
    v = numbers(7, dtype)
    for tiled, whole in zip(gradients(f, given, v), in_parts(f, given, v), strict=True):
        assert tiled.dtype is dtype and ad.equal(tiled, whole)


def test_large_operands_do_go_by_tiles():
    """What stands between the steps is no larger than tiles: one array is left, of the five that a whole rule of these steps makes."""
    x, v = numbers(0, n=4 * LARGE).requires_grad_(), numbers(1, n=4 * LARGE)
    y = ad.rsqrt(x)
    before = _core._memory_stats()[0]
    _core._reset_peak_memory()
    autograd.grad(y, x, v)
    assert _core._memory_stats()[1] - before < 1.7 * 4 * x.numel()


def test_an_expanded_cotangent_and_one_value():
    x, one = numbers(0), ad.tensor([0.25])
    for f in (ad.atan2, ad.hypot, ad.logaddexp):
        (tiled,) = gradients(lambda x, f=f: f(x, one), [x], ad.ones(1).expand(LARGE))
        (whole,) = in_parts(lambda x, f=f: f(x, one), [x], ad.ones(LARGE))
        assert ad.equal(tiled, whole)


def test_shapes_and_what_is_no_row_of_memory():
    x, y = numbers(0, n=600 * 601).view(600, 601), numbers(1, n=600 * 601).view(601, 600).t()
    v = numbers(2, n=600 * 601).view(600, 601)
    for a, b in zip(gradients(ad.hypot, [x, y], v), gradients(ad.hypot, [x, y.contiguous()], v), strict=True):
        assert a.shape == (600, 601) and ad.equal(a, b)


def test_second_derivatives_are_recorded():
    x = numbers(0, ad.float64).requires_grad_()
    (g,) = autograd.grad(ad.exp2(x).sum(), x, create_graph=True)
    (h,) = autograd.grad(g.sum(), x)
    ad.testing.assert_close(h, ad.exp2(x.detach()) * ad.log(ad.tensor(2.0, dtype=ad.float64)) ** 2)


def test_threads_change_no_bits():
    threads = ad.get_num_threads()
    found = []
    try:
        for n in (1, 2, 3):
            ad.set_num_threads(n)
            found.append(gradients(ad.logaddexp, [numbers(0), numbers(1)], numbers(2)))
    finally:
        ad.set_num_threads(threads)
    for other in found[1:]:
        assert all(ad.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_a_profile_shows_whole_steps():
    x = numbers(0).requires_grad_()
    with ad.profiler.profile() as p:
        ad.exp2(x).backward(ad.ones(LARGE))
    assert sum(e.count for e in p.key_averages() if e.key.endswith("exp2")) == 2
