"""A sum of gradients over actors of Ray, each of which keeps its part of the data.

python examples/pools/ray_gradients.py [actors]
"""

import sys

import ray

import adjoint as ad


class Part:
    """A part of the data, in a process of its own."""

    def __init__(self, x: ad.Tensor, y: ad.Tensor) -> None:
        self.x, self.y = x, y

    def gradient(self, w: ad.Tensor) -> tuple[float, ad.Tensor]:
        """The sum of squared errors over this part, and its gradient."""
        loss = ((self.x @ w - self.y) ** 2).sum()
        return loss.item(), ad.autograd.grad(loss, w)[0]


def main(actors: int = 2, steps: int = 40) -> float:
    """Fits a line, and returns the mean squared error that is left."""
    ad.manual_seed(0)
    x = ad.randn(1_000, 3)
    y = x @ ad.tensor([1.0, -2.0, 3.0])
    ray.init(num_cpus=actors, include_dashboard=False, log_to_driver=False)
    try:
        parts = [ray.remote(Part).remote(a, b) for a, b in zip(x.chunk(actors), y.chunk(actors))]
        w = ad.zeros(3, requires_grad=True)
        for step in range(steps):
            sums = ray.get([part.gradient.remote(w) for part in parts])
            loss = sum(value for value, _ in sums) / len(x)
            with ad.no_grad():
                w -= 0.2 * sum(g for _, g in sums) / len(x)
            if step % 10 == 0:
                print(f"step {step:3d}: mean squared error {loss:.6f}")
    finally:
        ray.shutdown()
    print("fitted:", w.tolist())
    return loss


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
