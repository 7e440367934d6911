"""What it costs to leave the hunt for nan on: a training step of an MLP of width 1024, plain and watched."""

import argparse
import time
import warnings

from _compare import ad

BUDGET = 1.10  # times the plain step


def mlp_step(batch, width=1024, layers=3):
    x = ad.randn(batch, width)
    weights = [(ad.randn(width, width) / 32).requires_grad_() for _ in range(layers)]
    biases = [ad.zeros(width, requires_grad=True) for _ in range(layers)]

    def step():
        h = x
        for w, b in zip(weights, biases, strict=True):
            h = (h @ w + b).tanh()
        (h * h).mean().backward()
        with ad.no_grad():
            for p in weights + biases:
                p -= 0.01 * p.grad
                p.grad = None

    return step


def watched(step, context):
    def run():
        with context():
            step()

    return run


def best(functions, rounds):
    """The least processor time of each, in seconds; they take turns. Other programs of the machine do not count."""
    found = [float("inf")] * len(functions)
    for _ in range(rounds + 1):
        for i, f in enumerate(functions):
            start = time.process_time()
            f()
            found[i] = min(found[i], time.process_time() - start)
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--rounds", type=int, default=30)
    given = arguments.parse_args()
    ad.set_num_threads(given.threads)
    warnings.simplefilter("ignore")
    modes = {
        "detect_nan()": ad.autograd.detect_nan,
        "detect_nan(inf=True)": lambda: ad.autograd.detect_nan(inf=True),
        "detect_anomaly()": ad.autograd.detect_anomaly,
    }
    print(f"\n### A training step of an MLP, 3 layers of width 1024, {given.threads} thread(s), processor time\n")
    print("| batch | plain ms | " + " | ".join(f"{m}, times" for m in modes) + " |\n|---|---|" + "---|" * len(modes))
    for batch in (32, 64, 256):
        step = mlp_step(batch)
        plain, *times = best([step, *(watched(step, m) for m in modes.values())], given.rounds)
        cells = [f"{t / plain:.3f} {'kept' if t <= BUDGET * plain else '**over**'}" for t in times]
        print(f"| {batch} | {plain * 1e3:.2f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
