"""Train a small network to read handwritten digits: python examples/digits/train.py [--epochs 30] [--seed 0] [--device cpu] [--fresh]

Everything is written as for PyTorch, and runs on it unchanged with `import torch as ad`: a module, an optimizer with a schedule, a
DataLoader, and a checkpoint after every epoch, from which the next call goes on. At the end, on adjoint, come three things that only
it tells: what the graph of the loss keeps in memory, where the time of a step goes, and a picture of the graph.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

import adjoint as ad

F = ad.nn.functional
HERE = Path(__file__).parent
TRAINING = 1347  # of the 1797 images; the others test
BATCH = 64


class Reader(ad.nn.Module):
    """Images (n, 1, 8, 8) to scores (n, 10): two convolutions, each halved by a maximum, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ad.nn.Conv2d(1, 16, 3, padding=1)
        self.second = ad.nn.Conv2d(16, 32, 3, padding=1)
        self.scores = ad.nn.Linear(32 * 2 * 2, 10)
        self.dropout = ad.nn.Dropout(0.25)

    def forward(self, images: ad.Tensor) -> ad.Tensor:
        """One score for each digit."""
        x = F.max_pool2d(F.relu(self.first(images)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.scores(self.dropout(x.flatten(1)))


def load(seed: int) -> tuple[ad.utils.data.TensorDataset, ad.utils.data.TensorDataset]:
    """Images in [0, 1] and their digits, to train with and to test with."""
    with gzip.open(HERE / "digits.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    np.random.default_rng(seed).shuffle(table)
    images, digits = ad.tensor(table[:, :64] / 16).view(-1, 1, 8, 8), ad.tensor(table[:, 64].astype(np.int64))
    cut = slice(TRAINING), slice(TRAINING, None)
    training, test = (ad.utils.data.TensorDataset(images[part], digits[part]) for part in cut)
    return training, test


class Run:
    """A network on its way: what a checkpoint holds."""

    def __init__(self, epochs: int, steps: int, device: str) -> None:
        self.device = device
        self.network = Reader().to(device)
        self.optimizer = ad.optim.AdamW(self.network.parameters(), lr=1e-2, weight_decay=1e-2)
        self.schedule = ad.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=1e-2, epochs=epochs, steps_per_epoch=steps)
        self.curves: dict[str, list[float]] = {"training loss": [], "test loss": [], "test accuracy": []}

    def save(self, path: Path, settings: dict[str, int]) -> None:
        """Writes a checkpoint."""
        parts = {name: getattr(self, name).state_dict() for name in ("network", "optimizer", "schedule")}
        ad.save({"settings": settings, "curves": self.curves, "random": ad.get_rng_state(), **parts}, path)

    def resume(self, path: Path, settings: dict[str, int]) -> bool:
        """Goes on from a checkpoint, if there is one of a run with the same settings."""
        if not path.exists():
            return False
        kept = ad.load(path, map_location="cpu")
        if kept["settings"] != settings:
            return False
        for name in ("network", "optimizer", "schedule"):
            getattr(self, name).load_state_dict(kept[name])
        self.curves = kept["curves"]
        ad.set_rng_state(kept["random"])
        return True

    def step(self, images: ad.Tensor, digits: ad.Tensor) -> float:
        """One step of training; the loss before it."""
        loss = F.cross_entropy(self.network(images.to(self.device)), digits.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.item()

    def epoch(self, training: Any, test: Any) -> None:
        """Once over the training images; then the test."""
        self.network.train()
        losses = [self.step(images, digits) for images, digits in training]
        self.network.eval()
        with ad.no_grad():
            scores = self.network(test.tensors[0].to(self.device)).cpu()
        right = (scores.argmax(1) == test.tensors[1]).float().mean().item()
        values = float(np.mean(losses)), F.cross_entropy(scores, test.tensors[1]).item(), right
        for curve, value in zip(self.curves.values(), values):
            curve.append(value)


def draw(curves: dict[str, list[float]], images: np.ndarray, digits: np.ndarray, predicted: np.ndarray) -> Path:
    """Draw the curves and some test images, the misread ones first."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 5.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.1])
    loss_axes, accuracy_axes = left.subplots(2, 1, sharex=True)
    for name in ("training loss", "test loss"):
        loss_axes.semilogy(curves[name], label=name)
    loss_axes.set_ylabel("cross entropy")
    loss_axes.legend()
    accuracy_axes.plot([100 * value for value in curves["test accuracy"]], color="tab:green")
    accuracy_axes.set(xlabel="epoch", ylabel="test accuracy (%)", ylim=(80, 100.5))
    accuracy_axes.grid(alpha=0.3)

    order = np.argsort(predicted == digits, kind="stable")
    for axes, index in zip(right.subplots(4, 6).flat, order, strict=False):
        right_answer = predicted[index] == digits[index]
        title = f"{predicted[index]}" if right_answer else f"{predicted[index]}, is {digits[index]}"
        axes.imshow(images[index].reshape(8, 8), cmap="gray_r")
        axes.set_title(title, color="black" if right_answer else "tab:red", fontsize=10)
        axes.axis("off")
    right.suptitle("test digits as the network reads them, errors first")
    path = HERE / "result.png"
    figure.savefig(path, dpi=110)
    return path


def tell(run: Run, images: ad.Tensor, digits: ad.Tensor) -> None:
    """What adjoint knows of one more step: its memory, its time, its graph."""
    from adjoint.autograd import graph
    from adjoint.autograd.profiler import profile

    run.network.train()
    loss = F.cross_entropy(run.network(images), digits)
    book = graph.ledger(loss)
    print(
        f"\nThe graph of a batch of {BATCH} keeps {book.saved_bytes / 1024:.0f} KiB for backward. The largest pieces, and whose they are:"
    )
    for row in sorted((row for row in book.rows if row.kind == "saved"), key=lambda row: -row.bytes)[:4]:
        print(f"  {row.bytes / 1024:6.1f} KiB  {row.owner}, {row.label}")
    graph.show(loss).save(HERE / "graph.svg")
    with profile(record_shapes=True) as watched:
        run.network.zero_grad()
        F.cross_entropy(run.network(images), digits).backward()
    print("The operations of a step that take the most time:")
    for row in sorted(watched.key_averages(), key=lambda row: -row.self_cpu_time_total)[:4]:
        print(f"  {row.self_cpu_time_total:6.0f} us  {row.key}, {row.count} times")
    watched.html(HERE / "profile.html", "One step of the digits example")
    print(f"Open {HERE / 'graph.svg'} (the graph) and {HERE / 'profile.html'} (the step as a flame chart)")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small network to read handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=0, help="processes that load batches")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--fresh", action="store_true", help="begin again, even if there is a checkpoint")
    arguments = parser.parse_args()
    settings, checkpoint = {"epochs": arguments.epochs, "seed": arguments.seed}, HERE / "checkpoint.pt"

    ad.manual_seed(arguments.seed)
    training_images, test = load(arguments.seed)
    training = ad.utils.data.DataLoader(training_images, BATCH, shuffle=True, num_workers=arguments.workers)
    run = Run(arguments.epochs, len(training), arguments.device)
    if not arguments.fresh and run.resume(checkpoint, settings):
        print(f"going on from {checkpoint}, after epoch {len(run.curves['test loss'])}")
    start, done = time.perf_counter(), len(run.curves["test loss"])
    with Progress() as progress:
        bar = progress.add_task("training", total=arguments.epochs, completed=done)
        for _ in range(done, arguments.epochs):
            run.epoch(training, test)
            run.save(checkpoint, settings)
            progress.advance(bar)
    seconds = time.perf_counter() - start

    run.network.eval()
    images, digits = test.tensors
    with ad.no_grad():
        predicted = run.network(images.to(run.device)).argmax(1).cpu().numpy()
    path = draw(run.curves, images.numpy(), digits.numpy(), predicted)
    print(f"{arguments.epochs - done} epochs in {seconds:.1f} s")
    print(f"test accuracy {100 * run.curves['test accuracy'][-1]:.2f} % of {len(test)} images")
    print(f"curves and digits: {path}")
    if ad.__name__ == "adjoint":
        tell(run, images[:BATCH].to(run.device), digits[:BATCH].to(run.device))


if __name__ == "__main__":
    main()
