"""A convolutional network that reads digits drawn from a 3 x 5 font, shifted and with noise."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR

FONT = [31599, 11415, 29671, 29647, 23497, 31183, 31215, 29257, 31727, 31695]  # 15 bits a digit, row after row


def digits(count):
    """Images (count, 1, 12, 12) and their digits (count,)."""
    glyphs = torch.tensor([[FONT[d] >> (14 - i) & 1 for i in range(15)] for d in range(10)]).float().view(10, 5, 3)
    labels = torch.randint(0, 10, (count,))
    images = 0.2 * torch.randn(count, 1, 12, 12)
    rows, columns = torch.randint(2, 5, (count,)), torch.randint(3, 6, (count,))
    for image, label, r, c in zip(images, labels, rows.tolist(), columns.tolist()):
        image[0, r : r + 5, c : c + 3] += glyphs[label]
    return images, labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, 1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, 1)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def test(model, images, labels):
    model.eval()
    with torch.no_grad():
        output = model(images)
        loss = F.nll_loss(output, labels).item()
        pred = output.argmax(dim=1, keepdim=True)
        right = pred.eq(labels.view_as(pred)).sum().item()
    print(f"test loss {loss:.4f}, {right} of {len(labels)} right")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--lr", type=float, default=0.004)
    args = parser.parse_args()
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net().to(device)
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=40, gamma=0.5)
    losses = []
    for _ in range(args.steps):
        images, labels = digits(64)
        model.train()
        optimizer.zero_grad()
        loss = F.nll_loss(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    images, labels = digits(200)
    test(model, images.to(device), labels.to(device))
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
