"""
A tiny GPT learns to sort
=========================

A transformer reads six digits and continues with the same digits in order. It is told nothing but the next token; what its attention looks at
shows how it does it.
"""

import matplotlib.pyplot as plt

import adjoint as ad

F = ad.nn.functional
DIGITS, LENGTH, WIDTH, HEADS = 8, 6, 48, 3
ad.manual_seed(0)


class Block(ad.nn.Module):
    """Attention to what came before, then a layer for each token."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = ad.nn.LayerNorm(WIDTH), ad.nn.LayerNorm(WIDTH)
        self.read, self.write = ad.nn.Linear(WIDTH, 3 * WIDTH), ad.nn.Linear(WIDTH, WIDTH)
        self.each = ad.nn.Sequential(ad.nn.Linear(WIDTH, 4 * WIDTH), ad.nn.GELU(), ad.nn.Linear(4 * WIDTH, WIDTH))

    def attention(self, x):
        """Weights (n, heads, tokens, tokens) and values (n, heads, tokens, width / heads)."""
        n, tokens, _ = x.shape
        q, k, v = (part.view(n, tokens, HEADS, -1).transpose(1, 2) for part in self.read(self.norm1(x)).chunk(3, 2))
        later = ad.ones(tokens, tokens, dtype=ad.bool).triu(1)
        scores = (q @ k.mT / (WIDTH / HEADS) ** 0.5).masked_fill(later, float("-inf"))
        return scores.softmax(-1), v

    def forward(self, x):
        weights, values = self.attention(x)
        x = x + self.write((weights @ values).transpose(1, 2).flatten(2))
        return x + self.each(self.norm2(x))


class Gpt(ad.nn.Module):
    """Tokens (n, t) to scores of the next one (n, t, digits)."""

    def __init__(self):
        super().__init__()
        self.token, self.place = ad.nn.Embedding(DIGITS, WIDTH), ad.nn.Embedding(2 * LENGTH, WIDTH)
        self.blocks = ad.nn.ModuleList(Block() for _ in range(2))
        self.scores = ad.nn.Sequential(ad.nn.LayerNorm(WIDTH), ad.nn.Linear(WIDTH, DIGITS))

    def embed(self, tokens):
        return self.token(tokens) + self.place(ad.arange(tokens.shape[1]))

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.scores(x)


# %%
# Train on new random digits each step; only the sorted half is asked for.

model = Gpt()
optimizer = ad.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
schedule = ad.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=250)
losses = []
for _ in range(250):
    digits = ad.randint(0, DIGITS, (64, LENGTH))
    text = ad.cat([digits, digits.sort(1).values], 1)
    scores = model(text[:, :-1])[:, LENGTH - 1 :]
    loss = F.cross_entropy(scores.flatten(0, 1), text[:, LENGTH:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())

# %%
# Let it write: its own token is appended and read again.

digits = ad.randint(0, DIGITS, (500, LENGTH))
text = digits
with ad.no_grad():
    for _ in range(LENGTH):
        text = ad.cat([text, model(text)[:, -1:].argmax(-1)], 1)
right = (text[:, LENGTH:] == digits.sort(1).values).all(1).float().mean().item()
print(
    f"{sum(p.numel() for p in model.parameters())} parameters; {100 * right:.0f} % of 500 new sequences are sorted without a fault"
)
print("for example", text[0, :LENGTH].tolist(), "->", text[0, LENGTH:].tolist())

with ad.no_grad():
    x = model.embed(text[:1, :-1])
    weights = [
        block.attention(x)[0] if block is model.blocks[0] else block.attention(model.blocks[0](x))[0] for block in model.blocks
    ]
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
axes[0].plot(losses, lw=0.8)
axes[0].set(xlabel="step", ylabel="loss")
labels = [str(token) for token in text[0].tolist()]
for panel, weight, name in zip(axes[1:], weights, ("first", "second")):
    panel.imshow(weight[0].amax(0)[LENGTH - 1 :], cmap="Blues", vmin=0, vmax=1)
    panel.set(title=f"attention of the {name} block", xlabel="looks at", ylabel="writes")
    panel.set_xticks(range(2 * LENGTH - 1), labels[:-1])
    panel.set_yticks(range(LENGTH), labels[LENGTH:])
figure.savefig("tiny_gpt.png")
