"""A variational autoencoder of images of one bright bar, upright or lying."""

import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F


def bars(count, side=8):
    """Images (count, side * side), each with one row or column of ones."""
    images = torch.zeros(count, side, side)
    which, upright = torch.randint(0, side, (count,)), torch.randint(0, 2, (count,)).bool()
    images[torch.arange(count)[upright], :, which[upright]] = 1.0
    images[torch.arange(count)[~upright], which[~upright], :] = 1.0
    return images.view(count, -1)


class VAE(nn.Module):
    def __init__(self, inputs=64, hidden=64, latent=6):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, inputs)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + kld) / len(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(args.steps):
        data = bars(64)
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        sample = model.decode(torch.randn(4, 6)).view(4, 8, 8)
    print("brightness of four samples:", [round(x, 2) for x in sample.mean(dim=(1, 2)).tolist()])
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
