"""The engine's behaviours with tensors on the device: higher derivatives, transforms, hooks, Functions, checkpoints, optimizers, modules."""

import pytest
from device_checks import agree

import adjoint as ad


def points(device):
    return ad.linspace(-1, 1, 6, dtype=ad.float64, device="cpu").view(2, 3).to(device)


def on_both(f, dtype=ad.float64):
    agree(f("cuda"), f("cpu"), dtype)


def test_third_derivatives():
    def third(device):
        x = points(device).requires_grad_()
        y = (x.tanh() * x.exp()).sum()
        for _ in range(3):
            (g,) = ad.autograd.grad(y, x, create_graph=True)
            y = g.sum()
        return [g.detach()]

    on_both(third)


def test_transforms_within_each_other():
    def f(x):
        return (x.softmax(0) * x.sin()).sum()

    on_both(
        lambda d: [ad.func.hessian(f)(points(d)[0]), ad.vmap(ad.func.grad(f))(points(d)), ad.func.jacrev(ad.tanh)(points(d)[1])]
    )
    on_both(lambda d: list(ad.func.jvp(ad.func.grad(f), (points(d)[0],), (points(d)[1],))))
    on_both(lambda d: [ad.func.vjp(f, points(d)[0])[1](ad.ones((), dtype=ad.float64, device=d))[0]])


class Cube(ad.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return 3 * x * x * v


def triple(leaf):
    leaf.grad.mul_(3)


def test_functions_hooks_and_retained_gradients():
    def run(device):
        x = points(device).requires_grad_()
        y = Cube.apply(x)
        y.register_hook(lambda g: g * 2)
        y.retain_grad()
        x.register_post_accumulate_grad_hook(triple)
        y.sin().sum().backward()
        return [x.grad, y.grad]

    on_both(run)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints(use_reentrant):
    def run(device):
        x = points(device).requires_grad_()
        ad.utils.checkpoint.checkpoint(lambda x: (x.exp() @ x.t()).tanh(), x, use_reentrant=use_reentrant).sum().backward()
        return [x.grad]

    on_both(run)


def test_writes_in_place_and_views():
    def run(device):
        x = points(device).requires_grad_()
        y = x * 2
        y[0].mul_(3)
        y[:, 1] = x[:, 0].sin()
        (y * y).sum().backward()
        return [x.grad, y.detach()]

    on_both(run)


def test_a_saved_tensor_that_was_overwritten_is_an_error():
    x = points("cuda").requires_grad_()
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_gradients_go_to_the_device_of_their_leaf():
    host, there = points("cpu").requires_grad_(), points("cuda").requires_grad_()
    with ad.autograd.graph.save_on_cpu(pin_memory=True):
        y = (host.exp().cuda() * there).cpu().sin()
    y.sum().backward()
    expected = [points("cpu").requires_grad_() for _ in range(2)]
    (expected[0].exp() * expected[1]).sin().sum().backward()
    assert (host.grad.device.type, there.grad.device.type) == ("cpu", "cuda")
    assert ad.allclose(host.grad, expected[0].grad) and ad.allclose(there.grad.cpu(), expected[1].grad)


@pytest.mark.parametrize(("name", "options"), [("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"lr": 0.1}), ("AdamW", {"lr": 0.1}), ("RMSprop", {"lr": 0.1}), ("Adagrad", {"lr": 0.1})])  # fmt: skip
def test_optimizers(name, options):
    def run(device):
        w = ad.nn.Parameter(points(device))
        optimizer = getattr(ad.optim, name)([w], **options)
        for _ in range(3):
            optimizer.zero_grad()
            ((w - 0.3) ** 2).sum().backward()
            optimizer.step()
        return [w.detach()]

    on_both(run)


def test_modules():
    def run(device):
        ad.manual_seed(1)
        model = ad.nn.Sequential(ad.nn.Linear(3, 8), ad.nn.LayerNorm(8), ad.nn.GELU(), ad.nn.Linear(8, 2)).double().to(device)
        ad.nn.functional.cross_entropy(model(points(device)), ad.tensor([0, 1], device=device)).backward()
        return [p.grad for p in model.parameters()]

    on_both(run)
