"""A siamese network: points of the same noisy pattern shall lie near each other, those of others at least a margin apart."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, same):
        distance = F.pairwise_distance(output1, output2)
        return torch.mean(same * distance.pow(2) + (1 - same) * torch.clamp(self.margin - distance, min=0.0).pow(2))


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.ReflectionPad1d(1),
            nn.Conv1d(1, 8, 3),
            nn.GELU(),
            nn.GroupNorm(2, 8),
            nn.AvgPool1d(2),
            nn.Conv1d(8, 8, 3),
            nn.GELU(),
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(8 * 6, 32), nn.PReLU(), nn.Linear(32, 4))

    def forward_once(self, x):
        return self.fc(self.cnn(x))

    def forward(self, input1, input2):
        return self.forward_once(input1), self.forward_once(input2)


def pairs(patterns, count):
    first, second = torch.randint(0, len(patterns), (2, count)).unbind(0)
    second = torch.where(torch.rand(count) < 0.5, first, second)
    noisy = [patterns[which].unsqueeze(1) + 0.1 * torch.randn(count, 1, 16) for which in (first, second)]
    return *noisy, (first == second).float()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=80)
    args = parser.parse_args()
    torch.manual_seed(0)
    patterns = torch.randn(5, 16)
    net = SiameseNetwork()
    criterion, triplet = ContrastiveLoss(), nn.TripletMarginLoss(margin=1.0)
    optimizer = torch.optim.Adam([{"params": net.cnn.parameters(), "lr": 2e-3}, {"params": net.fc.parameters()}], lr=4e-3)
    losses = []
    for _ in range(args.steps):
        input1, input2, same = pairs(patterns, 64)
        output1, output2 = net(input1, input2)
        loss = criterion(output1, output2, same)
        anchor, positive, negative = (net.forward_once(patterns[i : i + 1].unsqueeze(1)) for i in (0, 0, 1))
        loss = loss + 0.1 * triplet(anchor, positive, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
