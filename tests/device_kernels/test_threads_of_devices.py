"""Backward's threads and streams: the nodes of a GPU run on its thread, on the stream of their forward; the caller's on the CPU."""

import ctypes
import os
import threading

import pytest
from device_checks import ON_GPU, agree

import adjoint as ad


def here():
    return threading.get_ident()


class Noting(ad.autograd.Function):
    """Notes the thread, device and stream of its backward."""

    seen: list = []

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        stream = ad.cuda.current_stream(g.device) if g.is_cuda else None
        Noting.seen.append((here(), ad.cuda.current_device(), stream))
        return g * 2


@pytest.fixture(autouse=True)
def nothing_seen():
    Noting.seen.clear()


def devices():
    return range(ad.cuda.device_count())


def test_each_gpu_has_a_thread_and_the_cpu_the_callers():
    x = ad.ones(3, requires_grad=True)
    y = Noting.apply(x)
    for index in devices():
        y = Noting.apply(Noting.apply(y.to(f"cuda:{index}")))
    y.cpu().sum().backward()
    threads = [thread for thread, _, _ in Noting.seen]
    assert threads[-1] == here() and here() not in threads[:-1]
    assert len(set(threads[:-1])) == len(devices()) and threads[0] == threads[1]
    assert [device for _, device, _ in Noting.seen[:-1]] == [index for index in reversed(devices()) for _ in range(2)]
    assert x.grad.tolist() == [2.0 ** (1 + 2 * len(devices()))] * 3
    before = threads
    Noting.seen.clear()
    Noting.apply(ad.ones(3, device="cuda", requires_grad=True)).sum().backward()
    assert Noting.seen[0][0] == before[-2]  # the same thread for every backward


def test_hooks_of_a_leaf_run_on_its_gpus_thread():
    x, threads = ad.ones(3, device="cuda", requires_grad=True), []
    x.register_hook(lambda g: threads.append(here()))
    x.register_post_accumulate_grad_hook(lambda t: threads.append(here()))
    Noting.apply(x).sum().backward()
    assert threads == [Noting.seen[0][0]] * 2 != [here()] * 2


def test_the_caller_may_keep_to_its_own_thread():
    x = ad.ones(3, device="cuda", requires_grad=True)
    with ad.autograd.set_multithreading_enabled(False):
        Noting.apply(x).sum().backward()
    assert Noting.seen[0][0] == here()


def test_errors_come_back_and_the_thread_goes_on():
    def refuse(g):
        raise KeyError("of a hook")

    x = ad.ones(3, device="cuda", requires_grad=True)
    y = x * 2
    y.register_hook(refuse)
    with pytest.raises(KeyError, match="of a hook"):
        y.sum().backward()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_backward_in_a_hook():
    """On the thread of the GPU, over the CPU and over the same and other GPUs."""
    inner = [ad.ones(2, device=f"cuda:{i}", requires_grad=True) for i in devices()]
    host = ad.ones(2, requires_grad=True)

    def more(g):
        with ad.enable_grad():
            total = (host * 3).sum()
            for t in inner:
                total = total + Noting.apply(t).sum().cpu()
        total.backward()

    for index in devices():
        x = ad.ones(3, device=f"cuda:{index}", requires_grad=True)
        x.register_hook(more)
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2.0] * 3
    assert host.grad.tolist() == [3.0 * len(devices())] * 2
    assert all(t.grad.tolist() == [2.0 * len(devices())] * 2 for t in inner)


def test_what_belongs_to_the_caller_goes_along():
    x = ad.ones(3, device="cuda", requires_grad=True)
    packed, called = [], []
    y = (x**3).sum()
    with ad.autograd.graph.saved_tensors_hooks(lambda t: packed.append(here()) or t, lambda t: t):
        (g,) = ad.autograd.grad(y, x, create_graph=True)
    assert packed and here() not in packed
    (h,) = ad.autograd.grad(g.sum(), x)
    assert g.tolist() == [3.0] * 3 and h.tolist() == [6.0] * 3

    x.register_hook(lambda g: ad.autograd.Variable._execution_engine.queue_callback(lambda: called.append(here())))
    with ad.no_grad(), pytest.warns(UserWarning, match="Anomaly"), ad.autograd.detect_anomaly(check_nan=True):
        with ad.enable_grad():
            z = x.log().sum()
        z.backward()
    assert called == [here()]
    with pytest.raises(RuntimeError, match="nan"), pytest.warns(UserWarning), ad.autograd.detect_anomaly(check_nan=True):
        (x * 0 / 0).sum().backward()


def test_transforms_and_profiles_see_the_same():
    x = ad.linspace(0.5, 1.5, 3)
    f = lambda x: (x.sin() * x).sum()  # noqa: E731
    agree(ad.func.grad(f)(x.cuda()), ad.func.grad(f)(x), ad.float32)
    agree(
        ad.func.vmap(ad.func.grad(f))(ad.stack([x, x * 2]).cuda()),
        ad.func.vmap(ad.func.grad(f))(ad.stack([x, x * 2])),
        ad.float32,
    )
    agree(ad.func.hessian(f)(x.cuda()), ad.func.hessian(f)(x), ad.float32)
    leaf = x.cuda().requires_grad_()
    with ad.autograd.profiler.profile() as p:
        f(leaf).backward()
    assert any("SinBackward0" in e.name for e in p.function_events)


def test_many_callers_at_once():
    x = [ad.ones(4, device=f"cuda:{i % len(devices())}", requires_grad=True) for i in range(6)]

    def work(t):
        for _ in range(5):
            (t.sin() * t.cpu().cuda(t.device) * 2).sum().backward()

    threads = [threading.Thread(target=work, args=(t,)) for t in x]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    one = ad.ones(4, requires_grad=True)
    work_on_cpu = [(one.sin() * one * 2).sum().backward() for _ in range(5)]
    assert len(work_on_cpu) == 5
    agree([t.grad for t in x], [one.grad] * 6, ad.float32)


# ---- streams


def test_a_functions_backward_runs_on_the_stream_of_its_forward():
    side = ad.cuda.Stream()
    x = ad.ones(4, device="cuda", requires_grad=True)
    with ad.cuda.stream(side):
        y = Noting.apply(x)
    Noting.apply(y).sum().backward()
    default = ad.cuda.default_stream()
    assert [stream for _, _, stream in Noting.seen] == [default, side]
    assert ad.cuda.current_stream() == default
    assert x.grad.tolist() == [4.0] * 4


def test_a_prehook_sees_the_stream_of_the_forward():
    side = ad.cuda.Stream()
    with ad.cuda.stream(side):
        y = (ad.ones(10, device="cuda", requires_grad=True) * 2).sum()
    seen = []
    y.grad_fn.register_prehook(lambda g: seen.append(ad.cuda.current_stream() == side))
    y.backward()
    assert seen == [True]


@pytest.mark.skipif(ON_GPU, reason="reads the stand-in's log")
def test_events_order_leaves_and_the_caller():
    driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
    driver.standin_log.restype = ctypes.c_char_p

    def log():
        return [line.split() for line in driver.standin_log().decode().splitlines()]

    def number(stream):
        stream.record_event()
        return log()[-1][-1]

    a, b, caller = ad.cuda.Stream(), ad.cuda.Stream(), ad.cuda.Stream()
    names = {number(a): "a", number(b): "b", number(caller): "caller", "0": "default"}
    x = ad.ones(4, device="cuda", requires_grad=True)
    with ad.cuda.stream(a):
        y = x.sin()  # the leaf's node is made here: it accumulates on this stream
    with ad.cuda.stream(b):
        z = y.exp()
    x.grad = ad.zeros(4, device="cuda")
    log()
    with ad.cuda.stream(caller):
        z.backward(ad.ones(4, device="cuda"))
    lines = log()
    order = [names[line[line.index("stream") + 1]] for line in lines if line[0] == "launch"]
    assert order[0] == "b" and order[-1] == "a" and set(order) == {"a", "b"}
    records = {line[1]: names[line[3]] for line in lines if line[0] == "record"}
    waits = [(names[line[1]], records[line[3]]) for line in lines if line[0] == "wait"]
    assert waits == [("b", "caller"), ("a", "b"), ("caller", "a")]
    with ad.cuda.stream(caller):
        assert x.grad.tolist() == pytest.approx((ad.ones(4).cos() * ad.ones(4).sin().exp()).tolist())
