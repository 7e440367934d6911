"""Whole models, tiny, train on the device as on the CPU: ten steps from the same weights, noise and data give the same losses."""

import copy
import importlib.util
from pathlib import Path

import pytest
from device_checks import on_device

import adjoint as ad

F, nn = ad.nn.functional, ad.nn
STEPS = 10
DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "train.py"


class GPT(nn.Module):
    """Two layers, of two heads each."""

    def __init__(self, tokens=7, width=8, length=5):
        super().__init__()
        self.token, self.place = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.mixing = nn.ModuleList([nn.Linear(width, 3 * width) for _ in range(2)])
        self.thinking = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.scores = nn.Linear(width, tokens)

    def loss(self, text):
        n, length = text[:, :-1].shape
        x = self.token(text[:, :-1]) + self.place(ad.arange(length, device=text.device))
        for mixing, thinking, norm in zip(self.mixing, self.thinking, self.norms, strict=True):
            q, k, v = (t.view(n, length, 2, -1).transpose(1, 2) for t in mixing(norm(x)).chunk(3, -1))
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + F.gelu(thinking(heads.transpose(1, 2).reshape(n, length, -1)))
        return F.cross_entropy(self.scores(x).flatten(0, 1), text[:, 1:].flatten())


class Recurrent(nn.Module):
    """An LSTM that foretells the sum of what it has read."""

    def __init__(self):
        super().__init__()
        self.lstm, self.sum = nn.LSTM(2, 4, batch_first=True), nn.Linear(4, 1)

    def loss(self, x):
        return F.mse_loss(self.sum(self.lstm(x)[0][:, -1]), x.sum((1, 2)).unsqueeze(1))


class Autoencoder(nn.Module):
    """A convolutional variational autoencoder of images (n, 1, 6, 6)."""

    def __init__(self):
        super().__init__()
        self.encode, self.latent = nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.Linear(36, 4)
        self.expand, self.decode = nn.Linear(2, 36), nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1)

    def loss(self, x):
        mean, log_variance = self.latent(F.relu(self.encode(x)).flatten(1)).chunk(2, 1)
        z = mean + ad.randn_like(mean) * (log_variance / 2).exp()
        y = self.decode(F.relu(self.expand(z)).view(-1, 4, 3, 3))
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum() / 2
        return F.binary_cross_entropy_with_logits(y, x, reduction="sum") + divergence


class GaussianProcess(nn.Module):
    """The likelihood of its length scale and noise, by a Cholesky factor."""

    def __init__(self):
        super().__init__()
        self.factor = ad.linalg.cholesky
        self.log_scale, self.log_noise = nn.Parameter(ad.zeros(())), nn.Parameter(ad.tensor(-1.0))

    def loss(self, x):
        kernel = (-(x[:, None] - x).square() / (2 * self.log_scale.exp().square())).exp()
        factor = self.factor(kernel + self.log_noise.exp() * ad.eye(len(x), device=x.device))
        white = ad.linalg.solve_triangular(factor, x.sin()[:, None], upper=False)
        return white.square().sum() / 2 + factor.diagonal().log().sum()


class Digits(nn.Module):
    """The network of the example, with its dropout."""

    def __init__(self):
        super().__init__()
        found = importlib.util.spec_from_file_location("digits", DIGITS)
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        self.reader = module.Reader()

    def loss(self, images):
        return F.cross_entropy(self.reader(images), ad.arange(len(images), device=images.device))


MODELS = {
    "digits": (Digits, lambda: ad.rand(2, 1, 8, 8), ad.optim.SGD),
    "gpt": (GPT, lambda: ad.randint(0, 7, (2, 6)), ad.optim.AdamW),
    "lstm": (Recurrent, lambda: ad.randn(3, 3, 2), ad.optim.Adam),
    "autoencoder": (Autoencoder, lambda: ad.rand(2, 1, 6, 6), ad.optim.SGD),
    "gaussian process": (GaussianProcess, lambda: ad.linspace(0, 3, 6), ad.optim.Adam),
}


def step(model, data, optimizer):
    loss = model.loss(data)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def losses(model, data, optimizer, device):
    model, data = copy.deepcopy(model).to(device), data.to(device)
    optimizer = optimizer(model.parameters(), lr=1e-2)
    ad.manual_seed(1)
    return [step(model, data, optimizer).item() for _ in range(STEPS)]


def unchecked(a):
    """A capture refuses what raises by values."""
    return ad.linalg.cholesky_ex(a)[0]


def captured_losses(model, data, optimizer):
    """The first step runs eagerly, which makes the optimizer's state; the others are replays of one graph."""
    model, data = copy.deepcopy(model).cuda(), data.cuda()
    if isinstance(model, GaussianProcess):
        model.factor = unchecked
    optimizer = optimizer(model.parameters(), lr=1e-2, **({} if optimizer is ad.optim.SGD else {"capturable": True}))
    ad.manual_seed(1)
    side = ad.cuda.Stream()
    with ad.cuda.stream(side):
        seen = [step(model, data, optimizer).item()]
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph, stream=side):
        loss = step(model, data, optimizer)
    while len(seen) < STEPS:
        graph.replay()
        seen.append(loss.item())
    return seen


@pytest.mark.parametrize("name", MODELS)
def test_losses(name):
    make, data, optimizer = MODELS[name]
    ad.manual_seed(0)
    model, data = make(), data()
    host = losses(model, data, optimizer, "cpu")
    device = on_device(lambda: losses(model, data, optimizer, "cuda"))
    assert host[-1] < host[0]
    assert device == pytest.approx(host, rel=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_captured_steps(name):
    make, data, optimizer = MODELS[name]
    ad.manual_seed(0)
    model, data = make(), data()
    host = losses(model, data, optimizer, "cpu")
    assert captured_losses(model, data, optimizer) == pytest.approx(host, rel=1e-4)
