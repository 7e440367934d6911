"""Private training: torch.func's gradients of each sample are clipped before their mean is taken; an ensemble runs under vmap."""

import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad_and_value, jacrev, stack_module_state, vmap


class SimpleCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 8, 3, 1)
        self.fc = nn.Linear(8 * 2 * 2, 4)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)


def quarters(count):
    """Noise images (count, 1, 8, 8), one quarter of each brighter, and which."""
    labels = torch.randint(0, 4, (count,))
    images = 0.5 * torch.randn(count, 1, 8, 8)
    for image, label in zip(images, labels.tolist()):
        r, c = divmod(label, 2)
        image[0, 4 * r : 4 * r + 4, 4 * c : 4 * c + 4] += 1
    return images, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = SimpleCNN()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def compute_loss(params, sample, target):
        predictions = functional_call(model, params, (sample.unsqueeze(0),))
        return F.nll_loss(predictions, target.unsqueeze(0))

    per_sample = vmap(grad_and_value(compute_loss), in_dims=(None, 0, 0))
    losses = []
    for _ in range(args.steps):
        images, labels = quarters(32)
        params = {k: v.detach() for k, v in model.named_parameters()}
        grads, values = per_sample(params, images, labels)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
        factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
        for name, p in model.named_parameters():
            p.grad = torch.einsum("n,n...->...", factor, grads[name]) / len(images)
        optimizer.step()
        losses.append(values.mean().item())
    models = [model, SimpleCNN(), SimpleCNN()]
    stacked, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0])
    images, labels = quarters(8)
    together = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(stacked, buffers, images)
    torch.testing.assert_close(together[1], models[1](images), atol=1e-5, rtol=1e-5)
    print("Jacobian of an answer:", tuple(jacrev(lambda x: model(x[None])[0])(images[0]).shape))
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
