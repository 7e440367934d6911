"""Which language does a name come from? An LSTM reads the characters of packed sequences."""

import argparse
import string

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

NAMES = {
    "English": "smith johnson taylor walker wright turner baker cooper hughes edwards harrison ashworth whitfield thornton",
    "Italian": "rossi bianchi ferrari esposito romano colombo ricci marino greco bruno gallo conti deluca costantini",
    "Japanese": "sato suzuki takahashi tanaka watanabe ito yamamoto nakamura kobayashi kato yoshida yamada sasaki hayashi",
    "Polish": "nowak kowalski wisniewski wojcik kowalczyk kaminski lewandowski zielinski szymanski wozniak dabrowski",
}
LETTERS = {letter: i + 1 for i, letter in enumerate(string.ascii_lowercase)}


def name_to_tensor(name):
    return torch.tensor([LETTERS[letter] for letter in name], dtype=torch.long)


class CharRNN(nn.Module):
    def __init__(self, n_letters, n_hidden, n_categories):
        super().__init__()
        self.embedding = nn.Embedding(n_letters, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, n_hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * n_hidden, n_categories)

    def forward(self, names, lengths):
        packed = pack_padded_sequence(self.embedding(names), lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        return self.out(torch.cat([hidden[-2], hidden[-1]], dim=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    torch.manual_seed(0)
    categories = sorted(NAMES)
    examples = [(name_to_tensor(name), i) for i, key in enumerate(categories) for name in NAMES[key].split()]
    lengths = torch.tensor([len(name) for name, _ in examples])
    names = pad_sequence([name for name, _ in examples], batch_first=True)
    labels = torch.tensor([label for _, label in examples])
    model = CharRNN(len(LETTERS) + 1, 32, len(categories))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.003)
    losses = []
    for _ in range(args.steps):
        model.zero_grad()
        loss = criterion(model(names, lengths), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        name = name_to_tensor("yamazaki").unsqueeze(0)
        scores = model(name, torch.tensor([name.size(1)])).softmax(dim=1)
        topv, topi = scores.topk(2)
    for value, index in zip(topv[0].tolist(), topi[0].tolist()):
        print(f"yamazaki: {categories[index]} {value:.2f}")
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
