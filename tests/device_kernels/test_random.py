"""Random numbers are made on the device, and have the bits of those on the CPU."""

import ctypes
import os

import pytest
from device_checks import ON_GPU

import adjoint as ad

FLOATING = [ad.float64, ad.float32, ad.float16, ad.bfloat16]
SIZES = [(0,), (1,), (5,), (3, 1, 7), (4100,)]


def same(make, seed=11, calls=2):
    """Several calls on either device after the same seed: equal to the last bit, and nothing was uploaded."""
    results = []
    for device in ("cpu", "cuda"):
        ad.manual_seed(seed)
        results.append([make(device) for _ in range(calls)])
    for host, there in zip(*results, strict=True):
        assert there.is_cuda and there.dtype == host.dtype and there.shape == host.shape
        back = there.cpu()
        if host.is_complex():
            back, host = ad.view_as_real(back), ad.view_as_real(host)
        assert ad.equal(back, host), (back - host).abs().max()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATING, ad.complex64, ad.complex128], ids=lambda t: t.name)
@pytest.mark.parametrize("make", [ad.rand, ad.randn], ids=["rand", "randn"])
def test_uniform_and_normal(make, dtype, size):
    same(lambda device: make(*size, dtype=dtype, device=device))


def test_normal_numbers_in_all_quadrants_and_far_out():
    same(lambda device: ad.randn(100_000, device=device), seed=5, calls=1)
    same(lambda device: ad.randn(60_000, device=device, dtype=ad.float64), seed=5, calls=1)


@pytest.mark.parametrize(
    "dtype", [ad.int64, ad.int32, ad.uint8, ad.bool, ad.float32, ad.float16, ad.bfloat16], ids=lambda t: t.name
)
@pytest.mark.parametrize(("low", "high"), [(0, 2), (-7, 100), (-(2**62), 2**62 + 5), (5, 6)])
def test_integers(low, high, dtype):
    if dtype in (ad.uint8, ad.bool) or (dtype == ad.float16 and high > 2**16):
        low, high = 0, 2
    same(lambda device: ad.randint(low, high, (2, 33), dtype=dtype, device=device))


@pytest.mark.parametrize("seed", [0, 1, -1, 2**40 + 3])
def test_seeds(seed):
    same(lambda device: ad.rand(9, device=device), seed=seed)


@pytest.mark.parametrize("dtype", FLOATING, ids=lambda t: t.name)
@pytest.mark.parametrize("p", [0.1, 0.5, 0.999, 1.0])
def test_dropout(p, dtype):
    same(lambda device: ad.nn.functional.dropout(ad.ones(3, 50, dtype=dtype, device=device), p))


@pytest.mark.parametrize(
    "fill",
    [
        lambda x: x.uniform_(-2, 3),
        lambda x: x.normal_(1, 2),
        lambda x: x.bernoulli_(0.3),
        lambda x: x.random_(),
        lambda x: x.random_(3, 17),
        lambda x: ad.bernoulli(x.fill_(0.25)),
        lambda x: ad.rand_like(x),
        lambda x: ad.randn_like(x),
        lambda x: ad.randint_like(x, 9),
        lambda x: ad.normal(x.fill_(1), 2.0),
        lambda x: ad.nn.functional.dropout1d(x.fill_(1), 0.5),
    ],
)
def test_fills(fill):
    same(lambda device: fill(ad.zeros(4, 37, device=device)))


@pytest.mark.parametrize("name", ["exponential_", "log_normal_", "cauchy_"])
def test_fills_made_of_others(name):
    results = []
    for device in ("cpu", "cuda"):
        ad.manual_seed(2)
        results.append(getattr(ad.zeros(50, device=device), name)().cpu())
    assert ad.allclose(*results, rtol=1e-6)  # log, exp and tan are libdevice's there


def test_each_device_has_its_generator():
    ad.manual_seed(4)
    host = ad.rand(3)
    assert ad.equal(ad.rand(3, device="cuda").cpu(), host)  # drawing on the CPU did not move it on
    state = ad.cuda.get_rng_state()
    x = ad.rand(3, device="cuda")
    ad.cuda.set_rng_state(state)
    assert ad.equal(ad.rand(3, device="cuda"), x)
    ad.cuda.manual_seed(4)
    assert ad.equal(ad.rand(3, device="cuda").cpu(), host) and ad.cuda.initial_seed() == 4 == ad.initial_seed()
    ad.cuda.manual_seed_all(9)
    assert ad.cuda.initial_seed() == 9 and ad.initial_seed() == 4
    own = ad.Generator(device="cuda").manual_seed(4)
    assert own.device.type == "cuda" and ad.equal(ad.rand(3, device="cuda", generator=own).cpu(), host)


def test_checkpoint_and_vmap_bring_the_generators_back():
    x = ad.ones(40, device="cuda", requires_grad=True)
    y = ad.utils.checkpoint.checkpoint(lambda x: ad.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=False)
    (g,) = ad.autograd.grad(y.sum(), x)
    assert ad.equal(g, 2 * y.detach())
    lanes = ad.vmap(lambda x: x * ad.rand(3, device="cuda"), randomness="same", chunk_size=1)(ad.ones(2, 3, device="cuda"))
    assert ad.equal(lanes[0], lanes[1])
    lanes = ad.vmap(lambda x: x * ad.rand(3, device="cuda"), randomness="different")(ad.ones(2, 3, device="cuda"))
    assert not ad.equal(lanes[0], lanes[1])


def test_replays_draw_what_comes_next():
    def draw():
        return ad.rand(5, device="cuda"), ad.nn.functional.dropout(ad.ones(30, device="cuda"), 0.5)

    ad.manual_seed(6)
    eager = [draw() for _ in range(3)]
    ad.manual_seed(6)
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        captured = draw()
    for number, expected in enumerate(eager):
        if number == 2:  # a call between replays
            state = ad.cuda.get_rng_state()
            assert ad.equal(ad.rand(5, device="cuda"), expected[0])
            ad.cuda.set_rng_state(state)
        g.replay()
        for got, wanted in zip(captured, expected, strict=True):
            assert ad.equal(got, wanted)
    ad.manual_seed(6)
    g.replay()
    assert ad.equal(captured[0], eager[0][0])


def test_a_checkpoint_in_a_capture():
    x = ad.ones(40, device="cuda", requires_grad=True)

    def step():
        y = ad.utils.checkpoint.checkpoint(lambda x: ad.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=False)
        return y, ad.autograd.grad(y.sum(), x)[0]

    with ad.cuda.stream(ad.cuda.Stream()):
        step()
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        y, gradient = step()
    for _ in range(2):
        g.replay()
        assert ad.equal(gradient, 2 * y.detach()) and 0 < (y > 0).sum().item() < 40


def test_what_a_capture_cannot_draw():
    for draw in (
        lambda: ad.rand(2, device="cuda", generator=ad.Generator()),
        lambda: (ad.rand(2, device="cuda"), ad.manual_seed(0), ad.rand(2, device="cuda")),
        lambda: ad.randperm(4, device="cuda"),
    ):
        ad.manual_seed(3)
        with pytest.raises(RuntimeError, match="operation not permitted when stream is capturing"):
            with ad.cuda.graph(ad.cuda.CUDAGraph()):
                draw()


@pytest.mark.skipif(ON_GPU, reason="asks the interpreter what it ran")
def test_the_kernels_run(stand_in):
    stand_in.launched.clear()
    x = ad.rand(4, 2, device="cuda") + ad.randn(4, 2, device="cuda")
    ad.nn.functional.dropout(x.t(), 0.5)
    assert {"random_uniform", "random_normal", "random_mask"} <= set(stand_in.launched)


@pytest.mark.skipif(ON_GPU, reason="asks the interpreter what it ran")
@pytest.mark.parametrize("dtype", FLOATING, ids=lambda t: t.name)
def test_dropout_is_one_launch_each_way(stand_in, dtype):
    x, v = (ad.ones(3, 50, dtype=dtype, device="cuda") for _ in range(2))
    x.requires_grad_()
    stand_in.launched.clear()
    ad.nn.functional.dropout(x, 0.3).backward(v)
    assert stand_in.launched[0] == "random_dropout" and len(stand_in.launched) == 2


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64], ids=lambda t: t.name)
def test_derivatives_of_dropout(dtype):
    def derivatives(device):
        x = ad.arange(150, dtype=dtype).view(3, 50).to(device).requires_grad_()
        y = ad.nn.functional.dropout(x, 0.3)
        (g,) = ad.autograd.grad((y * y).sum(), x, create_graph=True)
        return ad.stack([y.detach(), g.detach(), *ad.autograd.grad((g * x).sum(), x)])

    same(derivatives)


def lines():
    """What the stand-in driver has done since; on a GPU, nothing."""
    if ON_GPU:
        return []
    driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
    driver.standin_log.restype = ctypes.c_char_p
    return driver.standin_log().decode().splitlines()


def captured(make):
    """A graph that draws, and where it puts the numbers; kernels are compiled before."""
    make()
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        y = make()
    return graph, y


def test_eager_numbers_during_a_capture_are_drawn_once():
    with ad.cuda.stream(ad.cuda.Stream()):
        ad.rand(64, device="cuda")
    ad.manual_seed(4)
    expected = [ad.rand(64) for _ in range(6)]
    ad.manual_seed(4)
    graph, other = ad.cuda.CUDAGraph(), ad.cuda.Stream()
    before = ad.rand(64, device="cuda")
    with ad.cuda.graph(graph):
        first = ad.rand(64, device="cuda")
        with other:
            eager = ad.rand(64, device="cuda")  # runs now
        second = ad.rand(64, device="cuda")
        with other:
            later = ad.rand(64, device="cuda")
    graph.replay()
    after = ad.rand(64, device="cuda")
    drawn = [before, eager, later, first, second, after]
    assert all(ad.equal(d.cpu(), e) for d, e in zip(drawn, expected, strict=True))


def test_a_checkpoint_within_a_capture_draws_the_same_twice():
    x = ad.ones(256, device="cuda", requires_grad=True)

    def step():
        x.grad = None
        y = ad.utils.checkpoint.checkpoint(lambda x: ad.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=False)
        y.sum().backward()
        return y.detach(), x.grad

    with ad.cuda.stream(ad.cuda.Stream()):
        step()
    graph = ad.cuda.CUDAGraph()
    x.grad = None
    with ad.cuda.graph(graph):
        y, grad = step()
    masks = []
    for _ in range(2):
        graph.replay()
        assert ad.equal(grad, 2 * y)
        masks.append(y.tolist())
    assert masks[0] != masks[1]


def test_replays_on_two_streams_draw_their_own_numbers():
    """The position of a replay is placed after the replay before it, on whatever stream, has looked at its own."""
    ad.manual_seed(6)
    expected = [ad.rand(64).tolist() for _ in range(5)][1:]
    ad.manual_seed(6)
    graph, y = captured(lambda: ad.rand(64, device="cuda"))
    streams = [ad.cuda.Stream(), ad.cuda.Stream()]
    for i, numbers in enumerate(expected):
        with streams[i % 2]:
            lines()
            graph.replay()
            order = [line.split()[0] for line in lines()]
            assert y.tolist() == numbers
        if i and not ON_GPU:
            assert order.index("wait") < min(order.index(name) for name in order if name.startswith("set"))
