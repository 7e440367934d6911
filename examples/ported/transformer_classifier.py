"""A transformer encoder that tells whether a sequence of brackets closes, with padding that is masked."""

import argparse
import math
import random

import torch
from torch import Tensor, nn

PAD, OPEN, CLOSE = 0, 1, 2


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.pe[:, : x.size(1)]


class Classifier(nn.Module):
    def __init__(self, d_model: int = 32, nhead: int = 4, nlayers: int = 2):
        super().__init__()
        self.embedding = nn.Embedding(3, d_model, padding_idx=PAD)
        self.pos_encoder = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, nlayers, norm=nn.LayerNorm(d_model), enable_nested_tensor=False)
        self.linear = nn.Linear(d_model, 2)

    def forward(self, src: Tensor) -> Tensor:
        padding = src == PAD
        x = self.encoder(self.pos_encoder(self.embedding(src)), src_key_padding_mask=padding)
        x = x.masked_fill(padding.unsqueeze(-1), 0.0).sum(dim=1) / (~padding).sum(dim=1, keepdim=True)
        return self.linear(x)


def brackets(length: int) -> tuple[list[int], int]:
    """A sequence and whether it closes."""
    tokens = [OPEN] * (length // 2) + [CLOSE] * (length // 2)
    if random.random() < 0.5:  # more of one kind than of the other
        tokens = [random.choice([OPEN, OPEN, CLOSE]) for _ in range(length)]
    random.shuffle(tokens)
    return tokens, int(tokens.count(OPEN) == tokens.count(CLOSE))


def batch(size: int) -> tuple[Tensor, Tensor]:
    examples = [brackets(2 * random.randint(2, 6)) for _ in range(size)]
    sources = torch.full((size, 12), PAD)
    for row, (tokens, _) in zip(sources, examples):
        row[: len(tokens)] = torch.tensor(tokens)
    return sources, torch.tensor([label for _, label in examples])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    model = Classifier()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.02)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=args.steps + 1)
    losses = []
    for _ in range(args.steps):
        sources, labels = batch(64)
        loss = criterion(model(sources), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
