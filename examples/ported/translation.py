"""A transformer that translates sentences into their reverse: padded batches, masks, label smoothing, a schedule with warm-up."""

import argparse
import math

import torch
import torch.nn as nn

PAD, BEGIN, WORDS = 0, 1, 12


class PositionalEncoding(nn.Module):
    def __init__(self, features, longest=32):
        super().__init__()
        position = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, features, 2) * (-math.log(10000.0) / features))
        table = torch.zeros(longest, 1, features)
        table[:, 0, 0::2], table[:, 0, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(0)]


class Translator(nn.Module):
    def __init__(self, features=32):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, features, padding_idx=PAD)
        self.positions = PositionalEncoding(features)
        self.transformer = nn.Transformer(features, 4, 1, 1, 64, dropout=0.0)
        self.scores = nn.Linear(features, WORDS)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(0)).isinf()  # of truth values, as the padding is
        padded = (source == PAD).T
        x, y = (self.positions(self.embedding(words)) for words in (source, target))
        seen = self.transformer(x, y, None, mask, None, padded, (target == PAD).T, padded)
        return self.scores(seen)


def batch(n):
    source = torch.randint(2, WORDS, (7, n))
    source[5:, : n // 2] = PAD
    target = torch.cat([torch.full((1, n), BEGIN), source.flip(0)])
    target[0, : n // 2] = PAD  # short sentences are padded in front, too
    return source, target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = Translator()
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
    losses = []
    for _ in range(args.steps):
        source, target = batch(32)
        scores = model(source, target[:-1])
        loss = criterion(scores.reshape(-1, WORDS), target[1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
