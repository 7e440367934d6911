"""Ordinary autograd programs, each run with PyTorch and with adjoint on the same data."""

import copy
import io
import math

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


def normal(t, *shape, seed=0, grad=False):
    x = t.from_numpy(np.asarray(np.random.default_rng(seed).standard_normal(shape)))
    return x.requires_grad_() if grad else x


@program
def adam(t):
    """An optimiser written as a class, with in-place arithmetic under no_grad."""
    a, w = normal(t, 5, 5), normal(t, 5, seed=3, grad=True)
    m, v, losses = t.zeros_like(w), t.zeros_like(w), []

    @t.no_grad()
    def step(k):
        g = w.grad.add(w, alpha=0.01)
        m.lerp_(g, 0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        w.addcdiv_(m, (v.sqrt() / math.sqrt(1 - 0.999**k)).add_(1e-8), value=-0.01 / (1 - 0.9**k))

    for k in range(1, 31):
        w.grad = None
        loss = (a @ w).tanh().pow(2).sum() + w.abs().sum() * 0.1
        loss.backward()
        step(k)
        losses.append(loss.item())
    return losses, w


@program
def lstm(t):
    wx, wh, b = (
        normal(t, 16, 3, grad=True),
        normal(t, 16, 4, seed=1, grad=True),
        t.zeros(16, dtype=t.float64, requires_grad=True),
    )
    x = normal(t, 5, 2, 3, seed=2)
    h, c = x.new_zeros(2, 4), x.new_zeros(2, 4)
    for step in x:
        i, f, g, o = (t.nn.functional.linear(step, wx, b) + h @ wh.t()).chunk(4, 1)
        c = t.sigmoid(f) * c + i.sigmoid() * t.tanh(g)
        h = o.sigmoid() * c.tanh()
    h.sum().backward()
    return h, c, wx.grad, wh.grad, b.grad


@program
def causal_attention(t):
    x, w = normal(t, 2, 5, 8, grad=True), normal(t, 8, 24, seed=1, grad=True)
    q, k, v = (z.view(2, 5, 2, 4).transpose(1, 2) for z in (x @ w).split(8, dim=2))
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    scores = scores.masked_fill(t.tril(t.ones(5, 5)) == 0, float("-inf")).softmax(-1)
    y = (scores @ v).transpose(1, 2).contiguous().view(2, 5, 8)
    g = t.autograd.grad(y.pow(2).sum(), [x, w], create_graph=True)
    return y, g, t.autograd.grad(g[0].pow(2).sum(), [x, w])


@program
def language_model(t):
    functional = t.nn.functional
    scale, shift = t.ones(8, dtype=t.float64, requires_grad=True), t.zeros(8, dtype=t.float64, requires_grad=True)
    up, down, table = (
        normal(t, 8, 32, seed=1, grad=True),
        normal(t, 32, 8, seed=2, grad=True),
        normal(t, 11, 8, seed=3, grad=True),
    )
    tokens = t.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 10]])
    h = functional.embedding(tokens, table) + table[t.arange(5)[None]]
    h = h + functional.gelu(functional.layer_norm(h, (8,), scale, shift) @ up) @ down
    logits = functional.layer_norm(h, (8,)) @ table.T
    loss = functional.cross_entropy(logits.view(-1, 11), t.roll(tokens, -1, 1).view(-1), ignore_index=1)
    loss.backward()
    return loss, [p.grad for p in (scale, shift, up, down, table)]


@program
def gradient_penalty(t):
    w1, w2 = normal(t, 4, 8, grad=True), normal(t, 8, 1, seed=2, grad=True)
    x = normal(t, 5, 4, seed=3, grad=True)
    score = t.tanh(x @ w1) @ w2
    (g,) = t.autograd.grad(score, x, t.ones_like(score), create_graph=True)
    penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    return penalty, w1.grad, w2.grad


@program
def meta_learning(t):
    w, total = normal(t, 3, 1, grad=True), 0
    for k in range(3):
        x = normal(t, 8, 3, seed=k)
        y, fast = x.sum(1, keepdim=True) * k, w
        for _ in range(2):
            (g,) = t.autograd.grad(((x @ fast).tanh() - y).pow(2).mean(), fast, create_graph=True)
            fast = fast - 0.1 * g
        total = total + ((x @ fast).tanh() - y).pow(2).mean()
    total.backward()
    return total, w.grad


@program
def differential_equation(t):
    """The residual of u'' = -pi^2 sin(pi x), trained through second derivatives in x."""
    parameters = [normal(t, 1, 8, grad=True), normal(t, 8, seed=1, grad=True), normal(t, 8, 1, seed=2, grad=True)]
    losses = []
    for _ in range(5):
        x = t.linspace(0, 1, 11, dtype=t.float64).reshape(-1, 1).requires_grad_()
        u = t.tanh(x @ parameters[0] + parameters[1]) @ parameters[2]
        (du,) = t.autograd.grad(u, x, t.ones_like(u), create_graph=True)
        (ddu,) = t.autograd.grad(du, x, t.ones_like(u), create_graph=True)
        loss = (ddu + math.pi**2 * t.sin(math.pi * x)).pow(2).mean() + u[0].pow(2).sum() + u[-1].pow(2).sum()
        gradients = t.autograd.grad(loss, parameters)
        with t.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p -= 1e-4 * g
        losses.append(loss.item())
    return losses, parameters


@program
def variational_autoencoder(t):
    encoder, decoder, x = normal(t, 6, 4, grad=True), normal(t, 2, 6, seed=1, grad=True), normal(t, 8, 6, seed=2).sigmoid()
    mu, logvar = (x @ encoder).chunk(2, dim=-1)
    z = normal(t, 8, 2, seed=9).mul(t.exp(0.5 * logvar)).add_(mu)
    loss = t.nn.functional.binary_cross_entropy(t.sigmoid(z @ decoder), x, reduction="sum")
    loss = loss - 0.5 * t.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss.backward()
    return loss, encoder.grad, decoder.grad


@program
def clipped_convolution(t):
    functional = t.nn.functional
    x, y = normal(t, 4, 1, 8, 8), t.tensor([0, 1, 2, 1])
    w1, w2 = normal(t, 3, 1, 3, 3, seed=1, grad=True), normal(t, 27, 3, seed=2, grad=True)
    h = functional.max_pool2d(functional.relu(functional.conv2d(x, w1)), 2).flatten(1)
    functional.nll_loss(functional.log_softmax(h @ w2, dim=1), y).backward()
    total = t.nn.utils.clip_grad_norm_([w1, w2], 0.1)
    return total, w1.grad, w2.grad


@program
def writes_through_masks_and_views(t):
    x = normal(t, 4, 5, grad=True)
    y = x.clone()
    y[y < 0] = 0
    y[:, 0] *= 2
    y[1, 2:] = x[0, 2:]
    y[t.tensor([0, 3]), t.tensor([1, 4])] += 10
    y.view(-1)[3:6].mul_(x.sum())
    y[..., -1] = t.arange(4.0)
    z = x.sin()
    z.t_().unsqueeze_(0)
    z[0, 1].mul_(3)
    ((y**2).sum() + (z**2).sum()).backward()
    return y, z, x.grad


@program
def hooks(t):
    seen, x = [], normal(t, 3, grad=True)
    y = x * 2
    z = (y * y).sum()
    handle = x.register_hook(lambda g: seen.append(("x", g.sum().item())))
    y.register_hook(lambda g: g * 3)
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("after", p.grad.sum().item())))
    z.grad_fn.register_prehook(lambda g: seen.append(("before", len(g))))
    z.backward(retain_graph=True)
    handle.remove()
    z.backward()
    return seen, x.grad, y.grad


@program
def checkpoints(t):
    results = []
    for reentrant in (False, True):
        x, w = normal(t, 4, grad=True), normal(t, 4, seed=1, grad=True)
        y = t.utils.checkpoint.checkpoint(lambda x, w: (x * w).sin().exp(), x, w, use_reentrant=reentrant)
        (y**2).sum().backward()
        results.append((y, x.grad, w.grad))
    return results


@program
def complex_descent(t):
    z, a = (
        t.tensor([1 + 2j, -0.5 + 0.3j], dtype=t.complex128, requires_grad=True),
        t.complex(normal(t, 2, 2), normal(t, 2, 2, seed=1)),
    )
    losses = []
    for _ in range(10):
        loss = (a @ z - 1).abs().pow(2).sum() + z.real.pow(2).sum()
        loss.backward()
        with t.no_grad():
            z -= 0.05 * z.grad
        z.grad = None
        losses.append(loss.item())
    return losses, z


@program
def transforms(t):
    func, x, rows = t.func, normal(t, 3), normal(t, 4, 3, seed=1)

    def f(x):
        return (x.sin() * x).sum()

    per_sample = func.vmap(func.grad(lambda w, x: (w * x).tanh().pow(2).sum()), (None, 0))(x, rows)
    return (
        per_sample,
        func.hessian(f)(x),
        func.vmap(func.hessian(f))(rows),
        func.jacfwd(t.cumprod)(x, 0),
        func.jvp(func.grad(f), (x,), (x,)),
    )


@program
def state(t):
    """Parameters, saved, loaded and copied."""
    w = t.nn.Parameter(normal(t, 3, 2))
    (w**2).sum().backward()
    file = io.BytesIO()
    t.save({"w": w.detach(), "steps": [t.tensor(1), t.tensor([True])]}, file)
    file.seek(0)
    other = copy.deepcopy(w)
    return (
        t.load(file),
        other,
        other.grad,
        type(other).__name__,
        repr(w).replace("adjoint.", "torch."),
        t.quantile(w.detach(), 0.3),
    )


def shown(r):
    if isinstance(r, (torch.Tensor, ad.Tensor)):
        return str(r.dtype).rpartition(".")[2], r.requires_grad, r.detach().numpy()
    if isinstance(r, dict):
        return {k: shown(v) for k, v in r.items()}
    return [shown(v) for v in r] if isinstance(r, (list, tuple)) else r


def agree(a, b):
    if isinstance(a, (np.ndarray, float)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            agree(x, y)
    elif isinstance(a, dict):
        agree(sorted(a.items()), sorted(b.items()))
    else:
        assert a == b


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda f: f.__name__)
def test_program(run):
    agree(shown(run(ad)), shown(run(torch)))
