"""Super resolution: a small network and PixelShuffle double the side of smooth images."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 16, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(16, 16, 3, padding="same", padding_mode="reflect")
        self.conv3 = nn.Conv2d(16, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        return self.pixel_shuffle(self.conv3(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight)


def images(count, side=16):
    """Waves of random direction and phase (count, 1, side, side)."""
    axis = torch.linspace(0, 1, side)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    fy, fx, phase = (torch.rand(count, 1, 1) * scale for scale in (12.0, 12.0, 2 * math.pi))
    return (0.5 + 0.5 * torch.sin(fy * y + fx * x + phase)).unsqueeze(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    torch.manual_seed(123)
    model = Net(upscale_factor=2)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(args.steps):
        target = images(16)
        input = F.interpolate(target, scale_factor=0.5, mode="bicubic", align_corners=False, antialias=True)
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"PSNR {10 * math.log10(1 / losses[-1]):.2f} dB")
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
