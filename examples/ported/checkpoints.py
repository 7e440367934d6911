"""A Dataset read by workers; training is stopped, saved, loaded into fresh objects and goes on."""

import argparse
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Spirals(Dataset):
    """Points of two spirals and which of the two each is of."""

    def __init__(self, count, transform=None):
        self.count, self.transform = count, transform

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        label, t = index % 2, 0.5 + 3 * index / self.count
        point = torch.tensor([t, t + torch.pi * label])
        point = point[0] * torch.stack([point[1].cos(), point[1].sin()])
        return {"point": self.transform(point) if self.transform else point, "label": label}


def make():
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)


def train(dataloader, model, loss_fn, optimizer, scheduler):
    model.train()
    total = 0.0
    for batch in dataloader:
        optimizer.zero_grad()
        loss = loss_fn(model(batch["point"]), batch["label"])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch["label"])
    scheduler.step()
    return total / len(dataloader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    training, held = random_split(Spirals(256, transform=lambda point: point / 4), [192, 64], generator=generator)
    loader = DataLoader(
        training,
        batch_size=32,
        shuffle=True,
        num_workers=args.workers,
        generator=generator,
        persistent_workers=args.workers > 0,
    )
    model, optimizer, scheduler = make()
    loss_fn = nn.CrossEntropyLoss()
    losses = [train(loader, model, loss_fn, optimizer, scheduler) for _ in range(args.steps // 2)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.pt")
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
        torch.save({"losses": losses, **{name: part.state_dict() for name, part in parts.items()}}, path)
        model, optimizer, scheduler = make()
        checkpoint = torch.load(path, weights_only=True, map_location="cpu")
    for name, part in {"model": model, "optimizer": optimizer, "scheduler": scheduler}.items():
        part.load_state_dict(checkpoint[name])
    losses = checkpoint["losses"]
    losses += [train(loader, model, loss_fn, optimizer, scheduler) for _ in range(args.steps - len(losses))]
    model.eval()
    with torch.inference_mode():
        right = sum((model(b["point"]).argmax(1) == b["label"]).sum().item() for b in DataLoader(held, batch_size=64))
    print(f"right: {right} of {len(held)}")
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
