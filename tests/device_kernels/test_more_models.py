"""Models of other styles, tiny: three clipped steps on the device and on the CPU give the same losses."""

import copy

import pytest
from device_checks import on_device

import adjoint as ad

F, nn = ad.nn.functional, ad.nn


class Residual(nn.Module):
    """Convolutions with batch norms around a shortcut, pooled with overlap."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        self.long = nn.Sequential(
            nn.Conv2d(4, 6, 3, 2, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 3, 1, 1, bias=False)
        )
        self.short, self.scores = nn.Conv2d(4, 6, 1, 2, bias=False), nn.Linear(6, 3)

    def loss(self, x):
        x = self.stem(x)
        x = F.adaptive_avg_pool2d(F.relu(self.long(x) + self.short(x), inplace=True), 1)
        return F.cross_entropy(self.scores(x.flatten(1)), ad.arange(len(x), device=x.device) % 3, label_smoothing=0.1)


class GraphAttention(nn.Module):
    """Softmax over the edges that end at a node, by scatter_reduce and index_add."""

    def __init__(self):
        super().__init__()
        self.turn, self.score, self.out = nn.Linear(3, 4, bias=False), nn.Linear(8, 1), nn.Linear(4, 2)
        self.register_buffer("edges", ad.tensor([[0, 1, 2, 3, 4, 0, 2], [1, 2, 3, 4, 0, 3, 1]]))

    def loss(self, x):
        h, (source, end) = self.turn(x), self.edges
        e = F.leaky_relu(self.score(ad.cat([h[source], h[end]], 1)).squeeze(1), 0.2)
        top = ad.full((len(x),), -float("inf"), device=x.device).scatter_reduce(0, end, e, "amax")
        w = (e - top[end]).exp()
        share = w / ad.zeros(len(x), device=x.device).index_add(0, end, w)[end]
        y = ad.zeros_like(h).index_add(0, end, share[:, None] * h[source])
        return F.nll_loss(F.log_softmax(self.out(F.elu(y)), 1), ad.arange(len(x), device=x.device) % 2)


class Bags(nn.Module):
    """Means of words, of texts of different lengths."""

    def __init__(self):
        super().__init__()
        self.words, self.scores = nn.EmbeddingBag(10, 4, mode="mean"), nn.Linear(4, 3)

    def loss(self, text):
        starts = ad.tensor([0, 2, 5], device=text.device)
        return F.cross_entropy(self.scores(self.words(text, starts)), ad.arange(3, device=text.device))


class Packed(nn.Module):
    """A recurrent network in both directions, of sequences of different lengths."""

    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(2, 3, num_layers=2, dropout=0.2, bidirectional=True, batch_first=True), nn.Linear(6, 1)

    def loss(self, x):
        packed = nn.utils.rnn.pack_padded_sequence(x, ad.tensor([4, 2, 3]), batch_first=True, enforce_sorted=False)
        return self.out(nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)[0]).square().mean()


class Rotated(nn.Module):
    """A layer of a decoder: RMS norms, rotated positions, heads that share keys, a gated layer and tied scores."""

    def __init__(self):
        super().__init__()
        self.words, self.norm, self.mixing = nn.Embedding(9, 8), nn.RMSNorm(8), nn.Linear(8, 16, bias=False)
        self.gate, self.up, self.down = nn.Linear(8, 12), nn.Linear(8, 12), nn.Linear(12, 8)

    def rotated(self, x):
        rates = 10000 ** (-ad.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
        t = ad.arange(x.shape[-2], device=x.device)[:, None] * rates
        a, b = x[..., ::2], x[..., 1::2]
        return ad.stack([a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()], -1).flatten(-2)

    def loss(self, text):
        x = self.words(text[:, :-1])
        n, length, _ = x.shape
        q, k, v = (z.view(n, length, -1, 4).transpose(1, 2) for z in self.mixing(self.norm(x)).split([8, 4, 4], -1))
        heads = F.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, is_causal=True, enable_gqa=True)
        x = x + heads.transpose(1, 2).reshape(n, length, 8)
        h = self.norm(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return F.cross_entropy((x @ self.words.weight.T).flatten(0, 1), text[:, 1:].flatten())


class Physics(nn.Module):
    """A network whose Laplacian is in the loss."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 8), nn.Linear(8, 1)

    def loss(self, x):
        x = x.detach().requires_grad_()
        y = self.outer(ad.sin(3 * self.inner(x)))
        (slope,) = ad.autograd.grad(y.sum(), x, create_graph=True)
        bent = sum(ad.autograd.grad(slope[:, i].sum(), x, create_graph=True)[0][:, i] for i in range(2))
        return (bent - x.prod(1)).square().mean() + y.square().mean()


class Experts(nn.Module):
    """Each row goes to the two networks that score highest."""

    def __init__(self):
        super().__init__()
        self.scores, self.experts = nn.Linear(4, 3), nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def loss(self, x):
        share, chosen = self.scores(x).softmax(-1).topk(2)
        y = ad.zeros_like(x)
        for k, expert in enumerate(self.experts):
            row, slot = ad.where(chosen == k)
            y.index_add_(0, row, expert(x[row]) * share[row, slot, None])
        return (y - x.flip(1)).square().mean() + F.one_hot(chosen[:, 0], 3).float().mean(0).std()


class Spectral(nn.Module):
    """Products of complex weights with low frequencies."""

    def __init__(self):
        super().__init__()
        self.weight, self.beside = nn.Parameter(ad.randn(2, 2, 3, dtype=ad.complex64) * 0.3), nn.Conv1d(2, 2, 1)

    def loss(self, x):
        f = ad.fft.rfft(x)
        low = ad.einsum("bix,iox->box", f[..., :3], self.weight)
        y = ad.fft.irfft(ad.cat([low, ad.zeros_like(f)[..., 3:]], -1), n=x.shape[-1])
        return (F.gelu(y + self.beside(x)) - x.roll(1, -1)).square().mean()


class Flow(nn.Module):
    """The likelihood of what an invertible matrix and a coupling make normal."""

    def __init__(self):
        super().__init__()
        self.mixing, self.scale = nn.Parameter(ad.eye(3) + 0.1 * ad.randn(3, 3)), nn.Linear(1, 2)

    def loss(self, x):
        y = x @ self.mixing
        s = self.scale(y[:, :1]).tanh()
        z = ad.cat([y[:, :1], y[:, 1:] * s.exp()], 1)
        return z.square().sum(1).mean() / 2 - s.sum(1).mean() - ad.linalg.slogdet(self.mixing)[1]


MODELS = {
    "residual": (Residual, lambda: ad.rand(3, 3, 8, 8), lambda p: ad.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-3)),
    "graph attention": (GraphAttention, lambda: ad.randn(5, 3), lambda p: ad.optim.RMSprop(p, lr=1e-2)),
    "bags": (Bags, lambda: ad.randint(0, 10, (8,)), lambda p: ad.optim.Adagrad(p, lr=1e-1)),
    "packed": (Packed, lambda: ad.randn(3, 4, 2), lambda p: ad.optim.NAdam(p, lr=1e-2)),
    "rotated": (Rotated, lambda: ad.randint(0, 9, (2, 6)), lambda p: ad.optim.AdamW(p, lr=1e-2, amsgrad=True)),
    "physics": (Physics, lambda: ad.rand(4, 2), lambda p: ad.optim.Adam(p, lr=1e-2)),
    "experts": (Experts, lambda: ad.randn(5, 4), lambda p: ad.optim.RAdam(p, lr=1e-2)),
    "spectral": (Spectral, lambda: ad.randn(2, 2, 8), lambda p: ad.optim.Adam(p, lr=1e-2)),
    "flow": (Flow, lambda: ad.randn(5, 3), lambda p: ad.optim.Adamax(p, lr=1e-2)),
}  # fmt: skip


def losses(model, data, make, device):
    model, data = copy.deepcopy(model).to(device), data.to(device)
    optimizer = make(model.parameters())
    ad.manual_seed(1)

    def closure():
        optimizer.zero_grad()
        loss = model.loss(data)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        return loss

    return [optimizer.step(closure).item() for _ in range(3)]


@pytest.mark.parametrize("name", MODELS)
def test_losses(name):
    make, data, optimizer = MODELS[name]
    ad.manual_seed(0)
    model, data = make(), data()
    host = losses(model, data, optimizer, "cpu")
    device = on_device(lambda: losses(model, data, optimizer, "cuda"))
    assert len({*host}) == 3
    assert device == pytest.approx(host, rel=2e-4)
