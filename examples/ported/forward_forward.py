"""The forward-forward algorithm: each layer learns by itself to be excited by true pairs and calm at false ones."""

import argparse

import torch
import torch.nn as nn
from torch.optim import Adam
from torch.utils.data import DataLoader, TensorDataset


def overlay_y_on_x(x, y):
    """The first ten values say which class."""
    x_ = x.clone()
    x_[:, :10] *= 0.0
    x_[range(x.shape[0]), y] = 3 * x.max()
    return x_


class Layer(nn.Linear):
    def __init__(self, in_features, out_features, threshold=2.0):
        super().__init__(in_features, out_features)
        self.relu = nn.ReLU()
        self.threshold = threshold
        self.opt = Adam(self.parameters(), lr=0.03)

    def forward(self, x):
        direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(direction, self.weight.T) + self.bias.unsqueeze(0))

    def train_layer(self, x_pos, x_neg):
        g_pos, g_neg = self.forward(x_pos).pow(2).mean(1), self.forward(x_neg).pow(2).mean(1)
        loss = torch.log(1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return self.forward(x_pos).detach(), self.forward(x_neg).detach(), loss.item()


class Net(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.layers = nn.ModuleList(Layer(a, b) for a, b in zip(dims, dims[1:]))

    def predict(self, x):
        goodness_per_label = []
        for label in range(10):
            h, goodness = overlay_y_on_x(x, label), []
            for layer in self.layers:
                h = layer(h)
                goodness += [h.pow(2).mean(1)]
            goodness_per_label += [sum(goodness).unsqueeze(1)]
        return torch.cat(goodness_per_label, 1).argmax(1)

    def train_step(self, x_pos, x_neg):
        total = 0.0
        for layer in self.layers:
            x_pos, x_neg, loss = layer.train_layer(x_pos, x_neg)
            total += loss
        return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(1234)
    centres = torch.rand(10, 40)
    y = torch.arange(10).repeat(20)
    x = torch.cat([torch.zeros(200, 10), centres[y] + 0.02 * torch.rand(200, 40)], dim=1)
    ((x, y),) = DataLoader(TensorDataset(x, y), batch_size=200)
    net = Net([50, 100, 60])
    losses = []
    for _ in range(args.steps):
        wrong = (y + torch.randint(1, 10, (200,))) % 10
        losses.append(net.train_step(overlay_y_on_x(x, y), overlay_y_on_x(x, wrong)))
    print("train error:", round(1.0 - net.predict(x).eq(y).float().mean().item(), 3))
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
