"""A generative adversarial network that learns the points of a ring; its loss here is the distance of the moments."""

import argparse
import math

import torch
import torch.nn as nn
import torch.optim as optim


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.3)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self, nz=8, hidden=32):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, hidden),
            nn.LayerNorm(hidden),
            nn.ReLU(True),
            nn.Linear(hidden, hidden),
            nn.ReLU(True),
            nn.Linear(hidden, 2),
        )

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.main(x).view(-1)


def ring(count):
    angle = 2 * math.pi * torch.rand(count)
    return 1.5 + torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


def distance(fake, real):
    return ((fake.mean(0) - real.mean(0)).norm() + (fake.std(0) - real.std(0)).norm()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    args = parser.parse_args()
    torch.manual_seed(0)
    netG, netD = Generator(), Discriminator()
    netG.apply(weights_init)
    netD.apply(weights_init)
    criterion = nn.BCEWithLogitsLoss()
    optimizerD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
    batch, distances = 64, []
    for _ in range(args.steps):
        # The discriminator: all of real points, then of made ones.
        netD.zero_grad()
        real, label = ring(batch), torch.full((batch,), 1.0)
        criterion(netD(real), label).backward()
        fake = netG(torch.randn(batch, 8))
        label.fill_(0.0)
        criterion(netD(fake.detach()), label).backward()
        optimizerD.step()
        # The generator: the discriminator shall take its points for real ones.
        netG.zero_grad()
        label.fill_(1.0)
        criterion(netD(fake), label).backward()
        optimizerG.step()
        distances.append(distance(fake.detach(), real))
    print(f"loss: first {distances[0]:.6f}, last {distances[-1]:.6f}")


if __name__ == "__main__":
    main()
