"""More programs as somebody writes them who comes from PyTorch: searches, experts, codebooks, signals, curvature; the numbers are the CPU's."""

import copy
import math

import pytest
from device_checks import assert_program_agrees

import adjoint as ad
from adjoint import nn
from adjoint.nn import functional as F

STEPS = 3


class Residual(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, groups=2, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.short = nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        return F.relu(y + self.short(x))


def residual_network(device):
    """Images that are flipped and cropped; weights that start by Kaiming; an average of them; mixed up labels."""
    model = nn.Sequential(Residual(3, 4, 1), Residual(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    for m in model.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
    model = model.to(device, memory_format=ad.channels_last)
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = ad.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = ad.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=STEPS)
    scaler = ad.amp.GradScaler(device)
    images, labels = ad.rand(4, 3, 6, 6), ad.tensor([0, 1, 3, 2], device=device)
    for step in range(STEPS):
        x = images.to(device).to(memory_format=ad.channels_last)
        flipped = ad.tensor([True, False, step == 1, True], device=device)
        x = ad.where(flipped[:, None, None, None], x.flip(-1), x)
        top, left = step % 3, 2 - step % 3
        x = F.pad(x, (1, 1, 1, 1), mode="reflect")[:, :, top : top + 6, left : left + 6]
        order = ad.tensor([2, 0, 3, 1], device=device)
        logits = model(0.7 * x + 0.3 * x[order])
        loss = 0.7 * F.cross_entropy(logits, labels) + 0.3 * F.cross_entropy(logits, labels[order])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        yield nn.utils.clip_grad_norm_(model.parameters(), 5.0).item()
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        with ad.no_grad():
            for old, new in zip(average.parameters(), model.parameters(), strict=True):
                old.mul_(0.9).add_(new, alpha=0.1)
            for old, new in zip(average.buffers(), model.buffers(), strict=True):
                old.copy_(new)
        yield loss.item()
    average.eval()
    yield average(images.to(device)).std().item()


def beam_search(device):
    """A decoder under a mask, and the best of its sentences."""
    tokens, width, beams, end = 7, 8, 3, 0
    layer = nn.TransformerDecoderLayer(width, 2, 16, dropout=0.0, batch_first=True)
    decoder, embed, head = (
        nn.TransformerDecoder(layer, 2).to(device),
        nn.Embedding(tokens, width).to(device),
        nn.Linear(width, tokens).to(device),
    )
    memory, text = ad.randn(2, 5, width).to(device), ad.tensor([[1, 2, 3, 4], [1, 5, 0, 0]]).to(device)
    optimizer = ad.optim.AdamW([*decoder.parameters(), *embed.parameters(), *head.parameters()], lr=1e-2, amsgrad=True)
    for _ in range(STEPS):
        mask = ad.ones(3, 3, dtype=ad.bool, device=device).triu(1)
        y = decoder(embed(text[:, :-1]), memory, tgt_mask=mask, tgt_key_padding_mask=text[:, :-1] == end)
        loss = F.cross_entropy(head(y).flatten(0, 1), text[:, 1:].flatten(), ignore_index=end)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    decoder.eval()
    with ad.no_grad():
        found = ad.ones(beams, 1, dtype=ad.long, device=device)
        scores = ad.tensor([0.0] + [-1e9] * (beams - 1), device=device)
        ended = ad.zeros(beams, dtype=ad.bool, device=device)
        for step in range(1, 5):
            mask = ad.triu(ad.full((step, step), float("-inf"), device=device), diagonal=1)
            y = head(decoder(embed(found), memory[:1].expand(beams, -1, -1), tgt_mask=mask)[:, -1]).log_softmax(-1)
            stay = ad.full_like(y, float("-inf"))
            stay[:, end] = 0
            total = (scores[:, None] + ad.where(ended[:, None], stay, y)).view(-1)
            scores, best = total.topk(beams)
            beam, token = best.div(tokens, rounding_mode="floor"), best % tokens
            found = ad.cat([found[beam], token[:, None]], 1)
            ended = ended[beam] | (token == end)
            if ended.all():
                break
        yield from scores.tolist()
        yield from map(float, found[scores.argmax()].tolist())


def clusters(device):
    """k-means, and a mixture of normal distributions from what it finds."""
    x = ad.cat([ad.randn(8, 2) * 0.3 + ad.tensor(c) for c in ([0.0, 0.0], [2.0, 2.0], [-2.0, 1.0])]).to(device)
    centres = x[[0, 9, 20]].clone()
    for _ in range(4):
        nearest = ad.cdist(x, centres).argmin(1)
        counts = ad.bincount(nearest, minlength=3)
        sums = ad.zeros_like(centres).scatter_add_(0, nearest[:, None].expand(-1, 2), x)
        centres = sums / counts.clamp(min=1)[:, None]
        yield (x - centres[nearest]).pow(2).sum().item()
    yield from map(float, counts.tolist())
    covariance = ad.stack([ad.cov(x[nearest == k].T) + 1e-3 * ad.eye(2, device=device) for k in range(3)])
    weight = counts / counts.sum()
    for _ in range(STEPS):
        parts = ad.distributions.MultivariateNormal(centres, covariance)
        joint = parts.log_prob(x[:, None]) + weight.log()
        share = (joint - joint.logsumexp(1, keepdim=True)).exp()
        mass = share.sum(0)
        centres = share.T @ x / mass[:, None]
        away = x[:, None] - centres
        covariance = ad.einsum("nk,nki,nkj->kij", share, away, away) / mass[:, None, None] + 1e-3 * ad.eye(2, device=device)
        weight = mass / len(x)
        yield joint.logsumexp(1).mean().item()
    distances = ad.pdist(x)
    yield distances.quantile(0.25).item()
    yield distances.median().item()


class Triangular(nn.Module):
    """x -> L x + b with L's diagonal positive, and back by a triangular solve."""

    def __init__(self, size):
        super().__init__()
        self.raw, self.shift = nn.Parameter(ad.randn(size, size) * 0.1), nn.Parameter(ad.zeros(size))

    def factor(self):
        return self.raw.tril(-1) + ad.diag_embed(F.softplus(self.raw.diagonal()))

    def forward(self, x):
        return F.leaky_relu(x @ self.factor().mT + self.shift, 0.5)

    def inverse(self, y):
        z = ad.where(y < 0, y / 0.5, y)
        logdet = -F.softplus(self.raw.diagonal()).log().sum() - math.log(0.5) * (y < 0).sum(-1)
        return ad.linalg.solve_triangular(self.factor(), (z - self.shift).mT, upper=False).mT, logdet


def triangular_flow(device):
    layers = nn.ModuleList(Triangular(3) for _ in range(3)).to(device)
    optimizer = ad.optim.NAdam(layers.parameters(), lr=1e-2)
    data = (ad.randn(10, 3) @ ad.tensor([[1.0, 0.5, 0], [0, 1.0, -0.5], [0, 0, 0.3]])).to(device)
    base = ad.distributions.MultivariateNormal(ad.zeros(3, device=device), ad.eye(3, device=device))
    for _ in range(STEPS):
        z, total = data, ad.zeros(10, device=device)
        for layer in reversed(layers):
            z, logdet = layer.inverse(z)
            total = total + logdet
        loss = -(base.log_prob(z) + total).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    with ad.no_grad():
        for layer in layers:
            z = layer(z)
    a = layers[0].factor().detach()
    yield ad.linalg.slogdet(a).logabsdet.item()
    yield ad.linalg.lstsq(data, data @ a).solution.sum().item()
    yield ad.linalg.pinv(data).norm().item()
    yield ad.linalg.eigvalsh(data.T @ data).amax().item()


def signals(device):
    """Convolution by Fourier transforms, a spectrogram, mel bands, and the filter that is learned from them."""
    x = ad.sin(ad.linspace(0, 40, 200)).to(device) + 0.1 * ad.randn(200).to(device)
    taps = nn.Parameter(ad.randn(9).to(device) * 0.1)
    window = ad.hann_window(32, device=device)
    optimizer = ad.optim.RAdam([taps], lr=1e-2)
    bands = ad.rand(17, 5).to(device)
    target = F.conv1d(x[None, None], ad.ones(1, 1, 9, device=device) / 9, padding=4)[0, 0]
    for _ in range(STEPS):
        size = 1 << (200 + 9 - 1 - 1).bit_length()
        y = ad.fft.irfft(ad.fft.rfft(x, n=size) * ad.fft.rfft(taps, n=size), n=size)[4:204]
        s = ad.stft(y, 32, hop_length=16, window=window, return_complex=True)
        mel = (s.abs().pow(2).T @ bands).clamp(min=1e-6).log()
        loss = F.mse_loss(y, target) + 1e-3 * mel.diff(dim=0).abs().mean() + 1e-3 * ad.angle(s[1:4]).cos().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    back = ad.istft(s.detach(), 32, hop_length=16, window=window, length=200)
    yield (back - y.detach()).abs().max().item()
    yield ad.fft.fftshift(ad.fft.fft2(x.view(10, 20))).abs().sum().item()
    yield x.unfold(0, 16, 8).std(-1).max().item()


class Experts(nn.Module):
    """Each token goes to the two experts that a gate likes best."""

    def __init__(self, width=6, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, 8), nn.SiLU(), nn.Linear(8, width)) for _ in range(experts))

    def forward(self, x):
        share, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
        share = share / share.sum(-1, keepdim=True)
        y = ad.zeros_like(x)
        for i, expert in enumerate(self.experts):
            token, place = ad.where(chosen == i)
            if token.numel():
                y.index_add_(0, token, expert(x[token]) * share[token, place, None])
        load = F.one_hot(chosen, len(self.experts)).float().mean((0, 1))
        return y, (load * self.gate(x).softmax(-1).mean(0)).sum()


def rotary(x):
    half = x.shape[-1] // 2
    angle = ad.arange(x.shape[-2], device=x.device)[:, None] * 10000 ** (-ad.arange(half, device=x.device) / half)
    a, b = x[..., :half], x[..., half:]
    return ad.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def experts(device):
    mixture, norm = Experts().to(device), nn.RMSNorm(6).to(device)
    q, kv, out = nn.Linear(6, 8).to(device), nn.Linear(6, 8).to(device), nn.Linear(8, 6).to(device)
    modules = nn.ModuleList([mixture, norm, q, kv, out])
    optimizer = ad.optim.AdamW(modules.parameters(), lr=1e-2, betas=(0.9, 0.95))
    x, y = ad.randn(2, 5, 6).to(device), ad.randn(2, 5, 6).to(device)
    for _ in range(STEPS):
        queries = rotary(q(norm(x)).unflatten(-1, (4, 2)).transpose(1, 2))
        keys, values = kv(norm(x)).unflatten(-1, (2, 2, 2)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(queries, rotary(keys), values, is_causal=True, enable_gqa=True)
        h = x + out(mixed.transpose(1, 2).flatten(2))
        routed, balance = mixture(norm(h).flatten(0, 1))
        loss = F.huber_loss(h + routed.view_as(h), y) + 0.01 * balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def codebook(device):
    """A quantised autoencoder: the nearest code, straight-through gradients, codes that follow by averages."""
    encoder = nn.Sequential(
        nn.Conv1d(1, 8, 4, 2, 1), nn.ELU(), nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 4, 3, padding=2, dilation=2))
    ).to(device)
    decoder = nn.Sequential(nn.ConvTranspose1d(4, 8, 4, 2, 1), nn.PReLU(), nn.Conv1d(8, 1, 1)).to(device)
    codes, size = ad.randn(6, 4).to(device), ad.ones(6, device=device)
    total = codes.clone()
    optimizer = ad.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    x = ad.randn(3, 1, 16).cumsum(-1).to(device)
    for _ in range(STEPS):
        z = encoder(x).transpose(1, 2)
        flat = z.reshape(-1, 4)
        distance = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ codes.T + codes.pow(2).sum(1)
        index = distance.argmin(1)
        near = F.embedding(index, codes).view_as(z)
        loss = F.mse_loss(decoder((z + (near - z).detach()).transpose(1, 2)), x) + 0.25 * F.mse_loss(z, near.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with ad.no_grad():
            chosen = F.one_hot(index, 6).type_as(flat)
            size.lerp_(chosen.sum(0), 0.1)
            total.lerp_(chosen.T @ flat, 0.1)
            codes = total / size.clamp_min(1e-5)[:, None]
        used = chosen.mean(0)
        yield loss.item()
        yield ad.exp(-ad.xlogy(used, used).sum()).item()


def curvature(device):
    """Gradients of each sample, adaptation by gradients of gradients, and a differential equation's residual."""
    net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1)).to(device)
    held = {k: v.detach() for k, v in net.named_parameters()}
    x, y = ad.randn(5, 2).to(device), ad.randn(5, 1).to(device)

    def loss_of(parameters, x, y):
        return F.mse_loss(ad.func.functional_call(net, parameters, (x,)), y)

    each = ad.func.vmap(ad.func.grad(loss_of), in_dims=(None, 0, 0))(held, x, y)
    yield from (g.flatten(1).norm(dim=1).max().item() for g in each.values())

    def adapted(parameters):
        inner = ad.func.grad(loss_of)(parameters, x[:3], y[:3])
        return loss_of({k: p - 0.1 * inner[k] for k, p in parameters.items()}, x[3:], y[3:])

    for _ in range(STEPS):
        slopes, value = ad.func.grad_and_value(adapted)(held)
        held = {k: p - 0.1 * slopes[k] for k, p in held.items()}
        yield value.item()
    hessian = ad.func.hessian(lambda p: ad.func.functional_call(net, held, (p,)).sum())(x[0])
    yield ad.linalg.eigvalsh(hessian).max().item()
    _, along = ad.func.jvp(lambda p: ad.func.functional_call(net, held, (p,)), (x,), (ad.ones_like(x),))
    yield along.sum().item()
    p = x.clone().requires_grad_()
    u = net(p)
    (slope,) = ad.autograd.grad(u.sum(), p, create_graph=True)
    second = sum(ad.autograd.grad(slope[:, i].sum(), p, create_graph=True)[0][:, i] for i in range(2))
    (second - u[:, 0]).pow(2).mean().backward()
    yield from (q.grad.norm().item() for q in net.parameters() if q.grad is not None)


def speech(device):
    """CTC over a recurrent network, whose examples have lengths of their own."""
    rnn, head = nn.GRU(4, 6, num_layers=2, batch_first=True, bidirectional=True).to(device), nn.Linear(12, 5).to(device)
    optimizer = ad.optim.Adagrad([*rnn.parameters(), *head.parameters()], lr=5e-2)
    x, lengths = ad.randn(3, 9, 4).to(device), ad.tensor([9, 7, 5])
    targets, sizes = ad.tensor([[1, 2, 3], [2, 2, 0], [4, 0, 0]]).to(device), ad.tensor([3, 2, 1])
    for _ in range(STEPS):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        y, _ = nn.utils.rnn.pad_packed_sequence(rnn(packed)[0], batch_first=True)
        log_p = head(y).log_softmax(-1).transpose(0, 1)
        loss = F.ctc_loss(log_p, targets, lengths, sizes)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(rnn.parameters(), 1.0, foreach=True)
        optimizer.step()
        yield loss.item()
    best = log_p.argmax(-1).T
    yield from (float(ad.unique_consecutive(row[:n]).numel()) for row, n in zip(best, lengths.tolist(), strict=True))


def rays(device):
    """A field of densities and colours, seen along rays: sorted samples, products along them, encoded positions."""
    net = nn.Sequential(nn.Linear(3 + 3 * 2 * 3, 12), nn.Softplus(), nn.Linear(12, 4)).to(device)
    optimizer = ad.optim.Adam(net.parameters(), lr=1e-2)
    start, way = ad.randn(4, 3).to(device) * 0.1, F.normalize(ad.randn(4, 3), dim=-1).to(device)
    depth = ad.rand(4, 8).to(device).sort(-1).values * 2
    seen = ad.rand(4, 3).to(device)
    for _ in range(STEPS):
        p = start[:, None] + way[:, None] * depth[..., None]
        waves = (p[..., None] * 2.0 ** ad.arange(3, device=device)).flatten(-2)
        density, colour = net(ad.cat([p, waves.sin(), waves.cos()], -1)).split([1, 3], -1)
        gap = ad.cat([depth.diff(dim=-1), ad.full((4, 1), 1e2, device=device)], -1)
        opaque = 1 - ad.exp(-F.relu(density[..., 0]) * gap)
        through = ad.cumprod(ad.cat([ad.ones(4, 1, device=device), 1 - opaque + 1e-10], -1), -1)[:, :-1]
        weight = opaque * through
        loss = F.mse_loss((weight[..., None] * colour.sigmoid()).sum(-2), seen) + 1e-2 * (weight * depth).sum(-1).var()
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        yield loss.item()
    cdf = ad.cat([ad.zeros(4, 1, device=device), weight.detach().cumsum(-1)], -1)
    at = ad.searchsorted(cdf, ad.linspace(0.05, 0.9, 5, device=device).expand(4, 5).contiguous(), right=True).clamp(1, 7)
    yield depth.gather(1, at).mean().item()


def boxes(device):
    """Detection: overlaps, suppression of what overlaps, focal loss, targets chosen by masks."""
    corners = (ad.rand(12, 2) * 4).to(device)
    found = ad.cat([corners, corners + 1 + ad.rand(12, 2).to(device)], 1).requires_grad_()
    truth = ad.tensor([[0.5, 0.5, 2.0, 2.0], [2.0, 1.0, 4.0, 3.5]], device=device)
    logits = ad.randn(12, 3).to(device).requires_grad_()

    def overlaps(a, b):
        top, bottom = ad.maximum(a[:, None, :2], b[:, :2]), ad.minimum(a[:, None, 2:], b[:, 2:])
        common = (bottom - top).clamp(min=0).prod(-1)
        sizes = [(t[:, 2:] - t[:, :2]).prod(-1) for t in (a, b)]
        return common / (sizes[0][:, None] + sizes[1] - common)

    optimizer = ad.optim.Rprop([found, logits], lr=1e-2)
    for _ in range(STEPS):
        overlap = overlaps(found, truth)
        best, which = overlap.max(1)
        wanted = F.one_hot(ad.where(best > 0.2, which + 1, 0), 3).float()
        p = logits.sigmoid()
        focal = F.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * (p - wanted).abs().pow(2)
        positive = best > 0.2
        loss = (
            focal.sum() / positive.sum().clamp(min=1)
            + (1 - best[positive]).mean()
            + F.l1_loss(found[positive], truth[which[positive]])
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    scores, left = logits.detach().amax(1), []
    order = scores.argsort(descending=True)
    again = overlaps(found.detach(), found.detach())
    while order.numel():
        left.append(float(order[0]))
        order = order[1:][again[order[0], order[1:]] < 0.3]
    yield from left
    yield float(ad.nonzero(positive).numel())
    yield ad.histc(scores, 4).argmax().item()
    yield ad.kthvalue(scores, 3).values.item()


PROGRAMS = [
    residual_network, beam_search, clusters, triangular_flow, signals, experts, codebook, curvature, speech, rays, boxes,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_on_the_cpu(program):
    assert_program_agrees(program)
