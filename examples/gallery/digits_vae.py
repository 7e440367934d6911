"""
A variational autoencoder on the digits
=======================================

Images of 8 x 8 handwritten digits are squeezed into two numbers each and drawn again from them. The two numbers are random, so that
neighbours in the plane look alike: a map of handwriting.
"""

import gzip
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import adjoint as ad

F = ad.nn.functional
ad.manual_seed(0)
HERE = Path(globals().get("__file__", "digits_vae.py")).resolve().parent  # where a notebook runs, there is no file

# %%
# The data: 1797 images (UCI), in [0, 1].

with gzip.open(HERE.parent / "digits" / "digits.csv.gz", "rt") as file:
    table = np.loadtxt(file, delimiter=",", dtype=np.float32)
images, digits = ad.tensor(table[:, :64] / 16), table[:, 64].astype(int)


class Autoencoder(ad.nn.Module):
    """Images (n, 64) to means and log-variances (n, 2), and back to logits (n, 64)."""

    def __init__(self):
        super().__init__()
        self.encoder = ad.nn.Sequential(
            ad.nn.Linear(64, 128), ad.nn.ReLU(), ad.nn.Linear(128, 64), ad.nn.ReLU(), ad.nn.Linear(64, 4)
        )
        self.decoder = ad.nn.Sequential(
            ad.nn.Linear(2, 64), ad.nn.ReLU(), ad.nn.Linear(64, 128), ad.nn.ReLU(), ad.nn.Linear(128, 64)
        )

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, 1)
        place = mean + (0.5 * log_variance).exp() * ad.randn_like(mean)
        return self.decoder(place), mean, log_variance


# %%
# The loss bounds the likelihood of the images: how well they are drawn, plus how far the places are from a standard normal distribution.


def parts(x):
    logits, mean, log_variance = model(x)
    drawn = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    spread = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
    return drawn, spread


model = Autoencoder()
optimizer = ad.optim.Adam(model.parameters(), lr=2e-3)
losses = []
for _ in range(40):
    for batch in ad.randperm(len(images)).split(64):
        drawn, spread = parts(images[batch])
        optimizer.zero_grad()
        (drawn + spread).backward()
        optimizer.step()
    losses.append((drawn + spread).item())

with ad.no_grad():
    drawn, spread = (part.item() for part in parts(images))
    places = model.encoder(images)[:, :2].numpy()
print(f"bound {drawn + spread:.2f}: drawing {drawn:.2f}, spread {spread:.2f} (at first {losses[0]:.2f} and falling)")

# %%
# Nearest neighbours on the map are mostly the same digit, which nobody told it.

distances = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(len(places))
same = float((digits[distances.argmin(1)] == digits).mean())
print(f"{100 * same:.0f} % of the nearest neighbours are the same digit")

figure, (scatter, canvas) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
dots = scatter.scatter(places[:, 0], places[:, 1], c=digits, cmap="tab10", s=6)
figure.colorbar(dots, ax=scatter, ticks=range(10))
grid = ad.linspace(-2, 2, 14)
with ad.no_grad():
    tiles = model.decoder(ad.cartesian_prod(-grid, grid).flip(1)).sigmoid().view(14, 14, 8, 8)
canvas.imshow(tiles.permute(0, 2, 1, 3).reshape(112, 112), cmap="gray_r", extent=(-2, 2, -2, 2))
scatter.set_title("where the images lie")
canvas.set_title("what is drawn there")
figure.savefig("digits_vae.png")
