"""Learning to learn (MAML): a network that one gradient step fits to a new sine, trained through that step."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap


def tasks(n):
    amplitude, phase = torch.rand(n, 1, 1) * 4 + 0.1, torch.rand(n, 1, 1) * math.pi
    x, query = torch.rand(n, 10, 1) * 10 - 5, torch.rand(n, 10, 1) * 10 - 5
    return x, amplitude * torch.sin(x + phase), query, amplitude * torch.sin(query + phase)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    params = dict(net.named_parameters())

    def loss(params, x, y):
        return F.mse_loss(functional_call(net, params, (x,)), y)

    def after_one_step(params, x, y, query, answers):
        grads = grad(loss)(params, x, y)
        return loss({name: p - 0.05 * grads[name] for name, p in params.items()}, query, answers)

    losses = []
    for _ in range(args.steps):
        meta = vmap(after_one_step, in_dims=(None, 0, 0, 0, 0))(params, *tasks(16)).mean()
        optimizer.zero_grad()
        meta.backward()
        optimizer.step()
        losses.append(meta.item())
    first, last = (sum(part) / len(part) for part in (losses[:10], losses[-10:]))
    print(f"loss: first {first:.6f}, last {last:.6f}")


if __name__ == "__main__":
    main()
