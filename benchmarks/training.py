"""Training steps as users write them: zero_grad, forward, loss, backward, step. Rows are made from lists of models, sizes and optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from _compare import ALL_THREADS, Row, Table, main

BUDGET = 1.2
OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda lib, p: lib.optim.SGD(p, lr=1e-3, momentum=0.9),
    "Adam": lambda lib, p: lib.optim.Adam(p, lr=1e-3),
    "AdamW": lambda lib, p: lib.optim.AdamW(p, lr=1e-3),
}


def mlp(lib: Any, width: int) -> Any:
    nn = lib.nn
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


def convolutions(lib: Any, width: int) -> Any:
    nn = lib.nn
    block = [nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*block, nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(width * 64, 10))


def recurrent(kind: str) -> Callable[[Any, int], Any]:
    def make(lib: Any, width: int) -> Any:
        class Net(lib.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.cells = getattr(lib.nn, kind)(width, width, batch_first=True)
                self.head = lib.nn.Linear(width, 10)

            def forward(self, x: Any) -> Any:
                return self.head(self.cells(x)[0][:, -1])

        return Net()

    return make


def attention(lib: Any, width: int) -> Any:
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out, self.head = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 10)
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = (y.view(b, t, 4, -1).transpose(1, 2) for y in self.qkv(self.before(x)).chunk(3, -1))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1)
            x = x + self.out(y)
            return self.head((x + self.mlp(self.between(x))).mean(1))

    return Block()


def autoencoder(lib: Any, width: int) -> Any:
    nn = lib.nn

    class VAE(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.code = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 16))
            self.decode = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width))

        def forward(self, x: Any) -> Any:
            mean, log_var = self.code(x).chunk(2, -1)
            y = self.decode(mean + lib.randn_like(mean) * (0.5 * log_var).exp())
            kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum()
            return lib.nn.functional.binary_cross_entropy_with_logits(y, x.sigmoid(), reduction="sum") + kl

    return VAE()


# name: how it is made, its widths, the shape of one input behind the batch
MODELS: dict[str, tuple[Callable[[Any, int], Any], tuple[int, ...], Callable[[int], tuple[int, ...]]]] = {
    "MLP of 3 layers": (mlp, (32, 128, 1024), lambda n: (n,)),
    "LSTM, 16 steps": (recurrent("LSTM"), (32, 128), lambda n: (16, n)),
    "GRU, 16 steps": (recurrent("GRU"), (32, 128), lambda n: (16, n)),
    "attention block, 16 tokens": (attention, (32, 128), lambda n: (16, n)),
    "convolutions, 16 x 16 pixels": (convolutions, (8, 32), lambda n: (3, 16, 16)),
    "VAE": (autoencoder, (64, 256), lambda n: (n,)),
}


def step(name: str, width: int, batch: int, optimizer: str) -> Callable[[Any], Callable[[], object]]:
    make, _, shape = MODELS[name]

    def prepared(lib: Any) -> Callable[[], object]:
        lib.manual_seed(0)
        model = make(lib, width)
        opt = OPTIMIZERS[optimizer](lib, model.parameters())
        x, target = lib.randn(batch, *shape(width)), lib.arange(batch) % 10
        loss = (lambda y: y) if name == "VAE" else (lambda y: lib.nn.functional.cross_entropy(y, target))

        def run() -> None:
            opt.zero_grad()
            loss(model(x)).backward()
            opt.step()

        return run

    return prepared


def rows() -> Iterator[Row]:
    for name, (_, widths, _) in MODELS.items():
        for width in widths:
            for batch in (1, 8, 64):
                for optimizer in OPTIMIZERS:
                    yield Row(f"{name}, {width} wide, batch {batch}, {optimizer}", step(name, width, batch, optimizer), BUDGET)


if __name__ == "__main__":
    main(Table("Training steps", list(rows()), BUDGET, (1, ALL_THREADS), alone=True))
