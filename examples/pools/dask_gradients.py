"""A sum of gradients over the workers of a Dask cluster: each has a part of the data, the client takes the steps.

python examples/pools/dask_gradients.py [workers]
"""

import sys

from distributed import Client, LocalCluster

import adjoint as ad


def gradients(model: ad.nn.Module, x: ad.Tensor, y: ad.Tensor) -> tuple[float, list[ad.Tensor]]:
    """The sum of squared errors over one part of the data, and its gradients."""
    loss = ad.nn.functional.mse_loss(model(x), y, reduction="sum")
    return loss.item(), list(ad.autograd.grad(loss, list(model.parameters())))


def main(workers: int = 2, steps: int = 30) -> float:
    """Trains a small model, and returns the mean squared error that is left."""
    ad.manual_seed(0)
    x = ad.rand(4_000, 2) * 2 - 1
    y = (x[:, :1] * x[:, 1:]).sin()
    model = ad.nn.Sequential(ad.nn.Linear(2, 32), ad.nn.Tanh(), ad.nn.Linear(32, 1))
    optimizer = ad.optim.Adam(model.parameters(), lr=0.02)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        parts = [client.scatter([a, b]) for a, b in zip(x.chunk(workers), y.chunk(workers))]  # sent once, and kept there
        for step in range(steps):
            sums = client.gather([client.submit(gradients, model, a, b, pure=False) for a, b in parts])
            for parameter, *grads in zip(model.parameters(), *(g for _, g in sums)):
                parameter.grad = sum(grads) / len(x)
            loss = sum(part for part, _ in sums) / len(x)
            optimizer.step()
            if step % 10 == 0:
                print(f"step {step:3d}: mean squared error {loss:.4f}")
    whole, expected = gradients(model, x, y)
    print(f"after {steps} steps: {whole / len(x):.4f}; gradients of {workers} workers and of one process agree: ", end="")
    halves = [gradients(model, a, b)[1] for a, b in zip(x.chunk(workers), y.chunk(workers))]
    print(all(ad.allclose(sum(parts), g, rtol=1e-3, atol=1e-3) for parts, g in zip(zip(*halves), expected)))
    return whole / len(x)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
