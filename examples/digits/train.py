"""Train a small network to read handwritten digits: python examples/digits/train.py [--epochs 60] [--seed 0]

Two linear layers and a hand-written Adam on plain tensors. The script uses names of `adjoint` that `torch` has too, so
`import torch as ad` runs it as well.
"""

from __future__ import annotations

import argparse
import gzip
import math
import time
from pathlib import Path

import numpy as np
from rich.progress import track

import adjoint as ad
import adjoint.nn.functional as F

HERE = Path(__file__).parent
TRAINING = 1347  # of the 1797 images; the others test
HIDDEN = 128
BATCH = 64


def load(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The images, (1797, 64) in [0, 1], and their digits, (1797,), shuffled."""
    with gzip.open(HERE / "digits.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    rng.shuffle(table)
    return table[:, :64] / 16, table[:, 64].astype(np.int64)


def make_parameters(rng: np.random.Generator) -> list[ad.Tensor]:
    """Weights and biases of the layers 64 -> HIDDEN -> 10, with the scale that keeps activations near 1."""
    parameters = []
    for inputs, outputs in ((64, HIDDEN), (HIDDEN, 10)):
        weight = rng.normal(0, math.sqrt(2 / inputs), (outputs, inputs))
        for value in (weight, np.zeros(outputs)):
            parameters.append(ad.tensor(value, dtype=ad.float32, requires_grad=True))
    return parameters


def predict(parameters: list[ad.Tensor], images: ad.Tensor) -> ad.Tensor:
    """One score for each digit: images (n, 64) -> scores (n, 10)."""
    weight1, bias1, weight2, bias2 = parameters
    return F.linear(F.relu(F.linear(images, weight1, bias1)), weight2, bias2)


class Adam:
    """Adam (Kingma and Ba, 2015) over a list of parameters."""

    def __init__(self, parameters: list[ad.Tensor], rate: float = 3e-3) -> None:
        self.parameters = parameters
        self.rate = rate
        self.steps = 0
        self.means = [ad.zeros_like(parameter) for parameter in parameters]
        self.squares = [ad.zeros_like(parameter) for parameter in parameters]

    def step(self) -> None:
        """Move each parameter against its gradient, and clear the gradient."""
        self.steps += 1
        rate = self.rate * math.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        with ad.no_grad():
            for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
                gradient = parameter.grad
                mean.mul_(0.9).add_(gradient * 0.1)
                square.mul_(0.999).add_(gradient * gradient * 0.001)
                parameter.sub_(rate * mean / (square.sqrt() + 1e-8))
                parameter.grad = None


def accuracy(scores: ad.Tensor, digits: ad.Tensor) -> float:
    """The share of images whose highest score is that of their digit."""
    return (scores.argmax(1) == digits).to(ad.float32).mean().item()


def train(
    parameters: list[ad.Tensor], images: ad.Tensor, digits: ad.Tensor, epochs: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Train on the first TRAINING images; return the curves, one value an epoch."""
    optimizer = Adam(parameters)
    curves: dict[str, list[float]] = {"training loss": [], "test loss": [], "test accuracy": []}
    for _ in track(range(epochs), description="training"):
        losses = []
        order = rng.permutation(TRAINING)
        for start in range(0, TRAINING, BATCH):
            batch = ad.tensor(order[start : start + BATCH])
            loss = F.cross_entropy(predict(parameters, images[batch]), digits[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with ad.no_grad():
            scores = predict(parameters, images[TRAINING:])
            curves["training loss"].append(float(np.mean(losses)))
            curves["test loss"].append(F.cross_entropy(scores, digits[TRAINING:]).item())
            curves["test accuracy"].append(accuracy(scores, digits[TRAINING:]))
    return curves


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


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small network to read handwritten digits.")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    rng = np.random.default_rng(arguments.seed)
    all_images, all_digits = load(rng)
    images, digits = ad.tensor(all_images), ad.tensor(all_digits)
    parameters = make_parameters(rng)
    start = time.perf_counter()
    curves = train(parameters, images, digits, arguments.epochs, rng)
    seconds = time.perf_counter() - start

    with ad.no_grad():
        predicted = predict(parameters, images[TRAINING:]).argmax(1).numpy()
    path = draw(curves, all_images[TRAINING:], all_digits[TRAINING:], predicted)
    print(f"{arguments.epochs} epochs in {seconds:.1f} s")
    print(f"test accuracy {100 * curves['test accuracy'][-1]:.2f} % of {len(all_digits) - TRAINING} images")
    print(f"curves and digits: {path}")


if __name__ == "__main__":
    main()
