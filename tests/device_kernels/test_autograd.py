"""Graphs on the device: training steps, streams, saved tensors in host memory, mixed graphs."""

import ctypes
import os

import pytest
from device_checks import ON_GPU, agree

import adjoint as ad


def step(device):
    """One step of a small network; the loss and the gradients."""
    ad.manual_seed(0)
    x, target = ad.randn(8, 6).to(device), ad.arange(8).remainder(3).to(device)
    w1, w2 = (ad.randn(*s).to(device).requires_grad_() for s in ((6, 16), (16, 3)))
    b = ad.zeros(16, device=device, requires_grad=True)
    hidden = ad.nn.functional.layer_norm(ad.nn.functional.gelu(x @ w1 + b), (16,))
    loss = ad.nn.functional.cross_entropy(hidden @ w2, target)
    loss.backward()
    return [loss, w1.grad, w2.grad, b.grad]


def test_a_training_step():
    agree(step("cuda"), step("cpu"), ad.float32)


def test_gradients_have_the_same_bits_every_time():
    index = ad.tensor([0, 1, 1, 0, 1, 2, 1]).cuda()

    def gradient():
        w = ad.linspace(-1, 1, 12).view(3, 4).cuda().requires_grad_()
        (w[index].sin() * ad.linspace(0.1, 3, 28).view(7, 4).cuda()).sum().backward()
        return w.grad.tolist()

    assert gradient() == gradient()


def test_a_graph_over_two_devices():
    x = ad.linspace(-1, 1, 5, requires_grad=True)
    y = (x * 2).cuda().sin()
    (y.cpu() * x).sum().backward()
    expected = ad.linspace(-1, 1, 5, requires_grad=True)
    ((expected * 2).sin() * expected).sum().backward()
    assert x.grad.device.type == "cpu"
    assert ad.allclose(x.grad, expected.grad)


@pytest.mark.parametrize("pin_memory", [False, True])
def test_saved_tensors_wait_in_host_memory(pin_memory):
    x = ad.linspace(-1, 1, 5).cuda().requires_grad_()
    with ad.autograd.graph.save_on_cpu(pin_memory=pin_memory):
        y = x.sin() * x
    y.sum().backward()
    z = ad.linspace(-1, 1, 5, requires_grad=True)
    (z.sin() * z).sum().backward()
    agree([x.grad], [z.grad], ad.float32)


def test_second_derivatives():
    def second(x):
        (g,) = ad.autograd.grad((x.tanh() ** 3).sum(), x, create_graph=True)
        return ad.autograd.grad(g.sum(), x)

    x = ad.linspace(-1, 1, 7, dtype=ad.float64)
    agree(second(x.cuda().requires_grad_()), second(x.clone().requires_grad_()), ad.float64)


def test_forward_mode_and_vmap():
    x = ad.linspace(-1, 1, 6).view(2, 3)
    agree(ad.func.jvp(ad.sin, (x.cuda(),), (ad.ones(2, 3).cuda(),)), ad.func.jvp(ad.sin, (x,), (ad.ones(2, 3),)), ad.float32)
    row = lambda v: v.softmax(0) @ v  # noqa: E731
    agree(ad.vmap(row)(x.cuda()), ad.vmap(row)(x), ad.float32)


@pytest.mark.skipif(ON_GPU, reason="reads the stand-in's log")
def test_backward_runs_on_the_stream_of_its_forward():
    driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
    driver.standin_log.restype = ctypes.c_char_p
    side = ad.cuda.Stream()
    x = ad.ones(4, device="cuda", requires_grad=True)
    with ad.cuda.stream(side):
        y = x.sin()
    ad.cuda.current_stream().wait_stream(side)
    z = y.exp()
    driver.standin_log()
    z.backward(ad.ones(4, device="cuda"))
    lines = [line.split() for line in driver.standin_log().decode().splitlines()]
    side.record_event()
    number = driver.standin_log().decode().split()[-1]
    launches = [line[line.index("stream") + 1] for line in lines if line[0] == "launch"]
    assert "0" in launches and number in launches  # exp's backward here, sin's there
    waits = [(line[1], line[3]) for line in lines if line[0] == "wait"]
    assert [stream for stream, _ in waits] == [number, "0"]  # there after what was done here, and the caller after all
    assert ad.cuda.current_stream() == ad.cuda.default_stream()
    ad.cuda.synchronize()
    assert ad.allclose(x.grad.cpu(), ad.ones(4).cos() * ad.ones(4).sin().exp())


@pytest.mark.parametrize("name", ["split", "unbind", "write", "function", "diagonal"])
def test_every_kind_of_node_runs_on_the_stream_of_its_forward(name):
    class Twice(ad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def write(x):
        y = x.clone()
        y[0] = x[1]
        return y

    forward = {
        "split": lambda x: x.split(1)[0],
        "unbind": lambda x: x.unbind(0)[1],
        "write": write,
        "function": Twice.apply,
        "diagonal": lambda x: x.diagonal(),
    }[name]
    x, stream, seen = ad.ones(2, 2, device="cuda", requires_grad=True), ad.cuda.Stream(), []
    with stream:
        y = forward(x)
    y.grad_fn.register_prehook(lambda g: seen.append(ad.cuda.current_stream()))
    y.backward(ad.ones_like(y))
    assert seen == [stream]
