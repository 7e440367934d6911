"""Profiles two steps of a small network: prints the table, writes a trace and a report.

python examples/profile/train.py [folder]     where the files go; the current folder by default
"""

import sys
from pathlib import Path

import adjoint as ad
import adjoint.nn.functional as F
from adjoint.autograd.profiler import profile, record_function


def network() -> list[ad.Tensor]:
    """Weights and biases of 256 -> 512 -> 10."""
    shapes = [(512, 256), (512,), (10, 512), (10,)]
    return [(ad.randn(*s) * 0.05).requires_grad_() for s in shapes]


def step(weights: list[ad.Tensor], x: ad.Tensor, target: ad.Tensor) -> None:
    """One step of gradient descent."""
    w1, b1, w2, b2 = weights
    with record_function("forward"):
        hidden = F.relu(F.linear(x, w1, b1))
        loss = F.cross_entropy(F.linear(hidden, w2, b2), target)
    with record_function("backward"):
        loss.backward()
    with record_function("update"), ad.no_grad():
        for w in weights:
            w -= 0.1 * w.grad
            w.grad = None


def main(folder: Path) -> None:
    ad.manual_seed(0)
    weights, x, target = network(), ad.randn(64, 256), ad.randint(0, 10, (64,))
    for _ in range(3):
        step(weights, x, target)
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        for _ in range(2):
            step(weights, x, target)
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    prof.export_chrome_trace(folder / "trace.json.gz")
    prof.html(folder / "report.html", "Two steps of a small network")
    print(f"wrote {folder / 'trace.json.gz'} and {folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
