"""Programs as somebody writes them who comes from PyTorch: `device` is all that differs, and what they print is the CPU's."""

import copy
import io

import pytest
from device_checks import assert_program_agrees

import adjoint as ad
from adjoint import nn
from adjoint.nn import functional as F
from adjoint.utils.data import DataLoader, TensorDataset

STEPS = 3


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
        self.pool = nn.MaxPool2d(2)
        self.down2 = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.up2 = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(8 + 4 + 4, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        return self.last(ad.cat([a, self.up(b), self.up2(b)], dim=1))


def unet(device):
    model = UNet().to(device)
    optimizer = ad.optim.Adam(model.parameters(), lr=1e-2)
    x, y = ad.randn(2, 1, 8, 8).to(device), ad.randint(0, 2, (2, 8, 8)).to(device)
    for _ in range(STEPS):
        logits = model(x)
        dice = 1 - (2 * (logits.softmax(1)[:, 1] * y).sum() + 1) / (logits.softmax(1)[:, 1].sum() + y.sum() + 1)
        loss = F.cross_entropy(logits, y) + dice
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    model.eval()
    with ad.no_grad():
        yield (model(x).argmax(1) == y).float().mean().item()


class Patches(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 4, stride=4)
        self.first = nn.Parameter(ad.zeros(1, 1, width))
        self.places = nn.Parameter(ad.randn(1, 5, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        x = ad.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.encoder(x)[:, 0])


def vision_transformer(device):
    model = Patches().to(device)
    optimizer = ad.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = ad.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    x, y = ad.randn(3, 3, 8, 8, device="cpu").to(device), ad.tensor([0, 2, 4], device=device)
    for _ in range(STEPS):
        loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        yield nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        optimizer.step()
        schedule.step()
        yield loss.item()


def sampled_text(device):
    """A decoder with a cache of keys and values that writes by top-k and nucleus sampling."""
    width, heads, tokens = 8, 2, 11
    embed, mix, out = (
        nn.Embedding(tokens, width).to(device),
        nn.Linear(width, 3 * width).to(device),
        nn.Linear(width, tokens).to(device),
    )
    ids = ad.tensor([[1, 4, 2]], device=device)
    cache = None
    with ad.inference_mode():
        new = ids
        for i in range(4):
            ad.manual_seed(i)  # of both devices
            q, k, v = (t.view(1, -1, heads, width // heads).transpose(1, 2) for t in mix(embed(new)).chunk(3, dim=-1))
            if cache is not None:
                k, v = ad.cat([cache[0], k], dim=2), ad.cat([cache[1], v], dim=2)
            cache = (k, v)
            x = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1)
            logits = out(x.transpose(1, 2).reshape(1, -1, width))[:, -1] / 0.8
            kth = ad.topk(logits, 6).values[:, -1, None]
            logits = logits.masked_fill(logits < kth, -float("inf"))
            values, order = logits.sort(descending=True)
            share = values.softmax(-1).cumsum(-1)
            cut = share - values.softmax(-1) > 0.9
            logits = ad.full_like(logits, -float("inf")).scatter(1, order, values.masked_fill(cut, -float("inf")))
            probabilities = F.softmax(logits, dim=-1)
            yield probabilities.max().item()
            new = ad.multinomial(probabilities, num_samples=1)
            ids = ad.cat([ids, new], dim=1)
    yield from (float(v) for v in ids[0, :3].tolist())
    yield float(ids.shape[1])


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 6, padding_idx=0)
        self.encoder = nn.LSTM(6, 8, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(16, 8)
        self.decoder = nn.GRUCell(6, 8)
        self.out = nn.Linear(8 + 16, 9)

    def forward(self, source, lengths, target):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, (h, _) = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        h = ad.tanh(self.bridge(ad.cat([h[-2], h[-1]], -1)))
        mask = ad.arange(states.shape[1], device=states.device)[None] < lengths[:, None]
        outputs = []
        for t in range(target.shape[1]):
            h = self.decoder(self.embed(target[:, t]), h)
            scores = ad.bmm(states[..., :8], h.unsqueeze(2)).squeeze(2).masked_fill(~mask, float("-inf"))
            context = ad.einsum("bt,btd->bd", scores.softmax(1), states)
            outputs.append(self.out(ad.cat([h, context], 1)))
        return ad.stack(outputs, 1)


def translation(device):
    model = Seq2Seq().to(device)
    optimizer = ad.optim.Adam(model.parameters(), lr=1e-2)
    source = ad.tensor([[3, 1, 4, 1], [5, 2, 0, 0], [6, 5, 3, 0]]).to(device)
    lengths = (source != 0).sum(1)
    target = ad.tensor([[1, 2, 3], [4, 5, 0], [6, 0, 0]]).to(device)
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = model(source, lengths, target)
        loss = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        yield loss.item()


def adversaries(device):
    generator = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Linear(8, 2), nn.Tanh()).to(device)
    critic = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(2, 8)), nn.LeakyReLU(0.2), nn.Linear(8, 1)).to(
        device
    )
    of_generator = ad.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    of_critic = ad.optim.RMSprop(critic.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        real, z = ad.randn(6, 2).to(device), ad.randn(6, 4).to(device)
        of_critic.zero_grad()
        fake = generator(z)
        d = criterion(critic(real), ad.ones(6, 1, device=device)) + criterion(
            critic(fake.detach()), ad.zeros(6, 1, device=device)
        )
        between = (real + ad.full((6, 1), 0.3, device=device) * (fake.detach() - real)).requires_grad_(True)
        slope = ad.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
        (d + 0.1 * ((slope.norm(2, dim=1) - 1) ** 2).mean()).backward()
        of_critic.step()
        of_generator.zero_grad()
        g = criterion(critic(generator(z)), ad.ones(6, 1, device=device))
        g.backward()
        of_generator.step()
        yield d.item()
        yield g.item()


def graph_network(device):
    edges = ad.tensor([[0, 1, 1, 2, 3, 3, 4], [1, 0, 2, 3, 2, 4, 0]]).to(device)
    x, y = ad.randn(5, 3).to(device), ad.tensor([0, 1, 0, 1, 1]).to(device)
    first, second = nn.Linear(3, 6).to(device), nn.Linear(6, 2).to(device)
    optimizer = ad.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1, momentum=0.9)
    ones = ad.ones(edges.shape[1], device=device)
    degree = ad.zeros(5, device=device).scatter_add_(0, edges[1], ones)
    weight = degree[edges[0]].pow(-0.5) * degree[edges[1]].pow(-0.5)
    for _ in range(STEPS):
        h = first(x)
        h = ad.zeros_like(h).index_add_(0, edges[1], h[edges[0]] * weight[:, None]).relu()
        best = ad.full((5, 6), -1e9, device=device).scatter_reduce(
            0, edges[1][:, None].expand(-1, 6), h[edges[0]], "amax", include_self=False
        )
        adjacency = ad.sparse_coo_tensor(edges, weight, (5, 5)).coalesce()
        loss = F.nll_loss(F.log_softmax(second(h + best.clamp(min=-1) + ad.sparse.mm(adjacency, h)), 1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    yield float(ad.unique(edges[0]).numel())
    yield ad.bincount(edges[1], minlength=5).float().std().item()


def gaussian_process(device):
    x = ad.linspace(0, 1, 9, device=device)[:, None]
    y = ad.sin(6 * x[:, 0])
    length, noise = (ad.tensor(v, device=device, requires_grad=True) for v in (-1.0, -2.0))
    optimizer = ad.optim.Adam([length, noise], lr=0.05)
    for _ in range(STEPS):
        k = ad.exp(-0.5 * ad.cdist(x, x).pow(2) / length.exp() ** 2) + noise.exp() * ad.eye(9, device=device)
        factor = ad.linalg.cholesky(k)
        alpha = ad.cholesky_solve(y[:, None], factor)[:, 0]
        loss = 0.5 * y @ alpha + factor.diagonal().log().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    prior = ad.distributions.MultivariateNormal(ad.zeros(9, device=device), covariance_matrix=k.detach())
    yield prior.log_prob(y).item()


class Coupling(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        a, b = x.chunk(2, -1)
        s, t = self.net(a).chunk(2, -1)
        s = ad.tanh(s)
        return ad.cat([b * s.exp() + t, a], -1), s.sum(-1)


def flow(device):
    layers = nn.ModuleList([Coupling() for _ in range(3)]).to(device)
    optimizer = ad.optim.Adamax(layers.parameters(), lr=1e-2)
    base = ad.distributions.Independent(ad.distributions.Normal(ad.zeros(2, device=device), ad.ones(2, device=device)), 1)
    data = ad.randn(8, 2).to(device) * ad.tensor([1.0, 0.3], device=device)
    for _ in range(STEPS):
        z, total = data, ad.zeros(8, device=device)
        for layer in layers:
            z, logdet = layer(z)
            total = total + logdet
        loss = -(base.log_prob(z) + total).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def diffusion(device):
    """Noise of the device's generator, whose bits are the CPU's; weights averaged along the way; state saved and loaded."""
    ad.manual_seed(3)
    net = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2)).to(device)
    average = ad.optim.swa_utils.AveragedModel(net, multi_avg_fn=ad.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = ad.optim.AdamW(net.parameters(), lr=1e-2)
    kept = ad.cumprod(1 - ad.linspace(1e-3, 0.2, 10, device=device), 0)
    data = ad.tensor([[0.5, -0.5], [1.0, 0.25], [-1.0, 0.0], [0.1, 0.9]], device=device)
    for _ in range(STEPS):
        ad.manual_seed(11)
        t = ad.randint(0, 10, (4,), device=device)
        noise = ad.randn_like(data)
        noisy = kept[t].sqrt()[:, None] * data + (1 - kept[t]).sqrt()[:, None] * noise
        loss = F.mse_loss(net(ad.cat([noisy, t[:, None] / 10], 1)), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(net)
        yield loss.item()
    file = io.BytesIO()
    ad.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": STEPS}, file)
    file.seek(0)
    held = ad.load(file, map_location=device)
    other = copy.deepcopy(net)
    other.load_state_dict(held["net"])
    again = ad.optim.AdamW(other.parameters(), lr=1e-2)
    again.load_state_dict(held["optimizer"])
    yield average(ad.cat([data, data[:, :1]], 1)).sum().item()
    x = ad.randn(2, 2, device=device)
    for step in (9, 5, 0):
        predicted = other(ad.cat([x, ad.full((2, 1), step / 10, device=device)], 1))
        x = (x - (1 - kept[step]).sqrt() * predicted) / kept[step].sqrt()
    yield x.sum().item()


def mixed_precision(device):
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.0), nn.Linear(8, 3)).to(device)
    optimizer = ad.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = ad.amp.GradScaler(device, enabled=True)
    x, y = ad.randn(6, 4).to(device), ad.randint(0, 3, (6,)).to(device)
    for _ in range(STEPS):
        optimizer.zero_grad()
        with ad.autocast(device_type=device, dtype=ad.bfloat16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        ad.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
        yield loss.item()


def loader(device):
    data = TensorDataset(ad.arange(24, dtype=ad.float32).view(12, 2) / 24, ad.arange(12) % 3)
    batches = DataLoader(data, batch_size=5, shuffle=False, pin_memory=device == "cuda")
    model = nn.Linear(2, 3).to(device)
    optimizer = ad.optim.SGD(model.parameters(), lr=0.1)
    correct = total = 0
    for x, y in batches:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = nn.CrossEntropyLoss()(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (model(x).argmax(1) == y).sum().item()
        total += len(y)
        yield loss.item()
    yield correct / total


def contrastive(device):
    """Two views of each example, a table of negatives, and a distance between distributions."""
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)).to(device)
    optimizer = ad.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-4)
    x = ad.randn(6, 4).to(device)
    queue = F.normalize(ad.randn(5, 4), dim=1).to(device)
    for _ in range(STEPS):
        a, b = (F.normalize(model(x * s), dim=1) for s in (1.0, 1.1))
        positive, negative = (a * b).sum(1, keepdim=True), a @ queue.T
        loss = F.cross_entropy(ad.cat([positive, negative], 1) / 0.2, ad.zeros(6, dtype=ad.long, device=device))
        gram = a.T @ a / 6
        loss = (
            loss
            + (gram - ad.diag(ad.diagonal(gram))).pow(2).sum()
            + F.kl_div(a.log_softmax(1), b.detach().softmax(1), reduction="batchmean")
        )
        loss = loss + F.triplet_margin_loss(a, b, a.flip(0)) + F.smooth_l1_loss(a, b) + ad.linalg.svdvals(a).std()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue = ad.cat([b.detach()[:2], queue])[:5]
        yield loss.item()


def policy(device):
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
    optimizer = ad.optim.Adam(net.parameters(), lr=1e-2)
    states, actions = ad.randn(7, 3).to(device), ad.tensor([0, 1, 1, 0, 1, 0, 0], device=device)
    rewards = ad.tensor([0.0, 0, 1, 0, 0, 2, 1], device=device)
    returns = ad.zeros_like(rewards)
    running = 0.0
    for t in reversed(range(7)):
        running = rewards[t] + 0.9 * running
        returns[t] = running
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    old = None
    for _ in range(STEPS):
        chosen = ad.distributions.Categorical(logits=net(states))
        log_prob = chosen.log_prob(actions)
        old = log_prob.detach() if old is None else old
        ratio = (log_prob - old).exp()
        loss = -ad.min(ratio * returns, ratio.clamp(0.8, 1.2) * returns).mean() - 0.01 * chosen.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def warped(device):
    """A spatial transformer, which looks at an image through a grid, and interpolation of every kind."""
    x = ad.rand(2, 1, 6, 6).to(device)
    theta = ad.tensor([[[1.0, 0.1, 0.0], [0.0, 0.9, 0.1]]], device=device).repeat(2, 1, 1).requires_grad_()
    optimizer = ad.optim.SGD([theta], lr=0.1)
    for _ in range(STEPS):
        grid = F.affine_grid(theta, [2, 1, 5, 5], align_corners=False)
        y = F.grid_sample(x, grid, align_corners=False, padding_mode="border")
        sizes = [F.interpolate(y, scale_factor=2, mode=m).mean() for m in ("nearest", "bilinear", "bicubic")]
        loss = (y - 0.5).square().mean() + sum(sizes) + F.adaptive_avg_pool2d(F.pad(y, (1, 1, 1, 1), mode="reflect"), 2).std()
        loss = loss + F.pixel_shuffle(y.repeat(1, 4, 1, 1), 2).amax() + F.unfold(y, 2).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


PROGRAMS = [
    unet, vision_transformer, sampled_text, translation, adversaries, graph_network, gaussian_process, flow, diffusion, mixed_precision,
    loader, contrastive, policy, warped,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_on_the_cpu(program):
    assert_program_agrees(program, rel=2e-2 if program is mixed_precision else 5e-4)
