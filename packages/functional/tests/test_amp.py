"""amp: which operations autocast casts, what it costs nothing to leave alone, and GradScaler."""

from __future__ import annotations

import threading
import warnings

import pytest

import adjoint as ad

F = ad.nn.functional
HALF = ad.bfloat16


def low(*shape):
    return ad.rand(*shape, dtype=HALF)


LOW = {
    "matmul": lambda: ad.rand(2, 2) @ ad.rand(2, 2),
    "mm": lambda: ad.mm(ad.rand(2, 2), ad.rand(2, 2)),
    "bmm": lambda: ad.bmm(ad.rand(1, 2, 2), ad.rand(1, 2, 2)),
    "linear": lambda: F.linear(ad.rand(2, 2), ad.rand(3, 2), ad.rand(3)),
    "addmm": lambda: ad.addmm(ad.rand(2), ad.rand(2, 2), ad.rand(2, 2)),
    "baddbmm": lambda: ad.baddbmm(ad.rand(2), ad.rand(1, 2, 2), ad.rand(1, 2, 2)),
    "addbmm": lambda: ad.addbmm(ad.rand(2), ad.rand(1, 2, 2), ad.rand(1, 2, 2)),
    "conv1d": lambda: F.conv1d(ad.rand(1, 2, 5), ad.rand(3, 2, 3), ad.rand(3)),
    "conv2d": lambda: F.conv2d(ad.rand(1, 2, 5, 5), ad.rand(3, 2, 3, 3), ad.rand(3)),
    "conv_transpose2d": lambda: F.conv_transpose2d(ad.rand(1, 2, 5, 5), ad.rand(2, 3, 3, 3), ad.rand(3)),
    "attention": lambda: F.scaled_dot_product_attention(*[ad.rand(1, 2, 3, 4)] * 3),
    "einsum": lambda: ad.einsum("ij,jk", ad.rand(2, 2), ad.rand(2, 2)),
    "module": lambda: ad.nn.Sequential(ad.nn.Linear(2, 3), ad.nn.ReLU())(ad.rand(1, 2)),
}
FULL = {
    "mse_loss": lambda: F.mse_loss(low(2), low(2)),
    "cross_entropy": lambda: F.cross_entropy(low(2, 3), ad.tensor([0, 1])),
    "bce": lambda: F.binary_cross_entropy_with_logits(low(3), low(3)),
    "prod": lambda: low(3).prod(),
    "trace": lambda: low(2, 2).trace(),
    "cat": lambda: ad.cat([low(2), ad.rand(2)]),
}
KEPT = {
    "double": lambda: (ad.rand(2, 2, dtype=ad.float64) @ ad.rand(2, 2, dtype=ad.float64)).dtype is ad.float64,
    "integers": lambda: (ad.ones(2, 2, dtype=ad.int64) @ ad.ones(2, 2, dtype=ad.int64)).dtype is ad.int64,
    "add": lambda: (ad.rand(2) + ad.rand(2)).dtype is ad.float32,
    "half": lambda: low(2).exp().dtype is HALF,
    "in place": lambda: ad.rand(2, 2).addmm_(ad.rand(2, 2), ad.rand(2, 2)).dtype is ad.float32,
    "mv": lambda: ad.mv(ad.rand(2, 2), ad.rand(2)).dtype is ad.float32,
}


@pytest.mark.parametrize(
    ("call", "dtype"), [(f, HALF) for f in LOW.values()] + [(f, ad.float32) for f in FULL.values()], ids=[*LOW, *FULL]
)
def test_types_of_results(call, dtype):
    with ad.autocast("cpu"):
        assert call().dtype is dtype
    if call in LOW.values():
        assert call().dtype is ad.float32


@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT.keys())
def test_what_is_left_alone(call):
    with ad.autocast("cpu"):
        assert call()


def test_gradients_have_the_types_of_their_parameters():
    net = ad.nn.Sequential(ad.nn.Linear(4, 8), ad.nn.Tanh(), ad.nn.Linear(8, 3))
    x, y = ad.rand(5, 4), ad.tensor([0, 1, 2, 0, 1])
    with ad.autocast("cpu"):
        loss = F.cross_entropy(net(x), y)
    loss.backward()
    rough = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    for p, g in zip(net.parameters(), rough):
        assert g.dtype is ad.float32 and ad.allclose(g, p.grad, rtol=0.1, atol=0.02)


def test_a_weight_is_cast_once_while_it_is_the_same():
    w = ad.rand(2, 2, requires_grad=True)
    with ad.autocast("cpu"):
        first, second = ad.rand(2, 2) @ w, ad.rand(2, 2) @ w
        casts = [y.grad_fn.next_functions[1][0] for y in (first, second)]
        assert casts[0] is casts[1] and casts[0].name() == "ToCopyBackward0"
    with ad.autocast("cpu"):
        before = (ad.ones(2, 2) @ w).tolist()
        with ad.no_grad():
            w.zero_()
        assert (ad.ones(2, 2) @ w).tolist() != before
        with ad.no_grad():
            ad.ones(2, 2) @ w
        (ad.ones(2, 2) @ w).sum().backward()
    assert w.grad is not None


def test_nesting_and_threads():
    seen = []
    with ad.autocast("cpu"):
        with ad.autocast("cpu", enabled=False):
            assert (ad.rand(2, 2) @ ad.rand(2, 2)).dtype is ad.float32
        with ad.autocast("cpu", dtype=ad.float16):
            assert (ad.rand(2, 2) @ ad.rand(2, 2)).dtype is ad.float16
        thread = threading.Thread(target=lambda: seen.append(ad.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
        assert ad.is_autocast_enabled("cpu") and not ad.is_autocast_enabled()
        assert (ad.rand(2, 2) @ ad.rand(2, 2)).dtype is HALF
    assert seen == [False] and not ad.is_autocast_enabled("cpu")

    @ad.autocast("cpu")
    def f(x):
        return x @ x

    assert f(ad.rand(2, 2)).dtype is HALF


def test_transforms_and_forward_mode():
    w, x = ad.rand(3, 2), ad.rand(4, 2)
    with ad.autocast("cpu"):
        assert ad.vmap(lambda x: F.linear(x, w))(x).dtype is HALF
        value, tangent = ad.func.jvp(lambda x: F.linear(x, w), (x,), (x,))
        gradient = ad.func.grad(lambda x: F.linear(x, w).sum())(x)
    assert value.dtype is HALF and ad.allclose(value, tangent) and gradient.dtype is ad.float32


def test_a_function_of_ones_own():
    kinds = []

    class Double(ad.autograd.Function):
        @staticmethod
        @ad.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            kinds.append((x @ x).dtype)
            return x * 2

        @staticmethod
        @ad.amp.custom_bwd(device_type="cpu")
        def backward(ctx, v):
            kinds.append((v @ v).dtype)
            return v * 2

    x = ad.rand(2, 2, requires_grad=True)
    with ad.autocast("cpu"):
        y = Double.apply(x).sum()
    y.backward()
    Double.apply(x).sum().backward()
    assert kinds == [HALF, HALF, ad.float32, ad.float32]


def test_what_autocast_refuses():
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'tpu'"):
        ad.autocast("tpu")
    with pytest.warns(UserWarning, match="not supported"), ad.autocast("cpu", dtype=ad.float64):
        assert not ad.is_autocast_enabled("cpu")
    if not ad.cuda.is_available():
        with pytest.warns(UserWarning, match="CUDA is not available"):
            ad.autocast("cuda")
    with pytest.warns(FutureWarning, match="deprecated"):
        ad.cpu.amp.autocast()


def steps(*gradients, **options):
    w = ad.zeros(1, requires_grad=True)
    optimizer = ad.optim.SGD([w], lr=1.0)
    scaler = ad.amp.GradScaler("cpu", init_scale=4.0, **options)
    scales = []
    for g in gradients:
        optimizer.zero_grad()
        scaler.scale((w * g).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return w.item(), scales, scaler


def test_scaler_grows_shrinks_and_leaves_steps_out():
    w, scales, scaler = steps(1.0, float("inf"), 1.0, 1.0, 1.0, growth_interval=2)
    assert w == -4.0 and scales == [4.0, 2.0, 2.0, 4.0, 4.0]
    other = ad.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()


def test_scaler_says_what_is_out_of_order():
    w = ad.zeros(1, requires_grad=True)
    optimizer, scaler = ad.optim.SGD([w], lr=1.0), ad.amp.GradScaler("cpu")
    scaled, pair = scaler.scale(w.sum()), scaler.scale([w, (w,)])
    assert isinstance(pair, list) and isinstance(pair[1], tuple)
    scaled.backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: None)
    off = ad.amp.GradScaler("cpu", enabled=False)
    assert off.scale(w) is w and off.state_dict() == {} and off.get_scale() == 1.0


def test_random_numbers_go_on_as_if_nothing_had_been_drawn():
    ad.manual_seed(1)
    with ad.random.fork_rng(devices=[]):
        inside = ad.rand(3)
    assert ad.equal(inside, ad.rand(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ad.random.fork_rng(enabled=False):
            ad.rand(1)
    with pytest.raises(RuntimeError, match="device type"), ad.random.fork_rng(device_type="tpu"):
        pass
    assert ad.cpu.device_count() == 1 and ad.cpu.is_available()
