"""A word language model: embedding and LSTM with tied weights, truncated backpropagation, clipping, a falling learning rate."""

import argparse
import math

import torch
import torch.nn as nn

TEXT = """the quick brown fox jumps over the lazy dog and the lazy dog sleeps while the quick brown fox runs through the green
field to the old river where the cold water flows under the stone bridge and the tall trees stand in the bright morning light <eos> """


class Corpus:
    def __init__(self, text):
        words = text.split()
        self.idx2word = sorted(set(words))
        self.word2idx = {word: i for i, word in enumerate(self.idx2word)}
        self.ids = torch.tensor([self.word2idx[word] for word in words], dtype=torch.int64)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nlayers):
        super().__init__()
        self.ninp, self.nlayers = ninp, nlayers
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, ninp, nlayers)
        self.decoder = nn.Linear(ninp, ntoken)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output).flatten(0, 1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(self.nlayers, bsz, self.ninp), weight.new_zeros(self.nlayers, bsz, self.ninp)


def repackage_hidden(h):
    """The hidden state without its history."""
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--bptt", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(1111)
    corpus = Corpus(TEXT * 12)
    data = batchify(corpus.ids, 8)
    model = RNNModel(len(corpus.idx2word), 32, 1)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=4.0)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.98)
    hidden, losses, start = model.init_hidden(8), [], 0
    for _ in range(args.steps):
        if start + args.bptt >= len(data):
            hidden, start = model.init_hidden(8), 0
        hidden = repackage_hidden(hidden)
        source, target = data[start : start + args.bptt], data[start + 1 : start + 1 + args.bptt].reshape(-1)
        start += args.bptt
        model.zero_grad()
        output, hidden = model(source, hidden)
        loss = criterion(output, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    print(f"perplexity {math.exp(losses[-1]):.2f}, learning rate {scheduler.get_last_lr()[0]:.3f}")
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
