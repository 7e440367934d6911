"""
Image registration
==================

Two pictures of the same thing, one turned, grown and shifted. Which motion lays one over the other? Six numbers describe an affine map;
sampling an image through it is differentiable, and so is the difference of the two pictures.
"""

import math

import matplotlib.pyplot as plt

import adjoint as ad

F = ad.nn.functional
SIZE = 64
ad.manual_seed(4)

# %%
# A picture: blobs at random places. The other is the same one through a known map, with noise.

row = ad.linspace(-1, 1, SIZE)
x, y = ad.meshgrid(row, row, indexing="xy")
picture = ad.zeros(SIZE, SIZE)
for _ in range(14):
    centre, width = 1.3 * ad.rand(2) - 0.65, 0.05 + 0.1 * ad.rand(())
    picture = picture + (-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * width**2)).exp()

turn, grow, shift = math.radians(25), 1.15, (0.12, -0.08)
c, s = grow * math.cos(turn), grow * math.sin(turn)
TRUE = ad.tensor([[c, -s, shift[0]], [s, c, shift[1]]])


def through(image, affine):
    grid = F.affine_grid(affine[None], [1, 1, SIZE, SIZE], align_corners=False)
    return F.grid_sample(image[None, None], grid, align_corners=False)[0, 0]


other = through(picture, TRUE) + 0.03 * ad.randn(SIZE, SIZE)


def blurred(image, sigma):
    """By a Gaussian, a row and then a column at a time."""
    reach = int(3 * sigma)
    weights = (-(ad.arange(-reach, reach + 1.0) ** 2) / (2 * sigma**2)).exp()
    weights = (weights / weights.sum()).view(1, 1, 1, -1)
    smooth = F.conv2d(image[None, None], weights, padding=(0, reach))
    return F.conv2d(smooth, weights.mT, padding=(reach, 0))[0, 0]


# %%
# From coarse to fine: blurred pictures first, whose valleys are wide. Gauss and Newton's method with the Jacobian of all 4096 differences by the
# six numbers, in forward mode.

affine = ad.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
costs = []
for sigma in (8.0, 4.0, 2.0, 1.0):
    moving, fixed = blurred(picture, sigma), blurred(other, sigma)
    difference = lambda a: (through(moving, a) - fixed).flatten()  # noqa: E731, B023
    for _ in range(8):
        r, J = difference(affine), ad.func.jacfwd(difference)(affine).view(-1, 6)
        step = ad.linalg.solve(J.T @ J + 1e-3 * ad.eye(6), J.T @ r)
        affine = affine - step.view(2, 3)
        costs.append(r.square().mean().item())

error = (affine - TRUE).abs().max().item()
angle, size = math.degrees(math.atan2(affine[1, 0], affine[0, 0])), affine[:, :2].det().sqrt().item()
print(f"turned by {angle:.2f} degrees (true 25), grown by {size:.3f} (true {grow}), largest error of the map {error:.4f}")

figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
before, after = (through(picture, a) - other for a in (ad.eye(2, 3), affine))
for panel, image, title in zip(axes, (picture, other, before, after), ("one", "the other", "difference before", "and after")):
    limit = {} if title in ("one", "the other") else {"vmin": -2, "vmax": 2}
    panel.imshow(image, cmap="RdBu" if limit else "viridis", **limit)
    panel.set_title(title)
    panel.axis("off")
figure.savefig("image_registration.png")
