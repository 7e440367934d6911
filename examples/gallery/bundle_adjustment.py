"""
Bundle adjustment
=================

Eight cameras look at the same points. From where each camera sees each point, find where the cameras and the points are. Levenberg and
Marquardt's method needs the Jacobian of all residuals: forward mode, one batch of directions at a time, gives it exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

import adjoint as ad

CAMERAS, POINTS = 8, 40
random = np.random.default_rng(3)


def rotation(w):
    """Rotation matrices (n, 3, 3) of rotation vectors (n, 3)."""
    zero = ad.zeros_like(w[:, 0])
    cross = ad.stack([zero, -w[:, 2], w[:, 1], w[:, 2], zero, -w[:, 0], -w[:, 1], w[:, 0], zero], 1).view(-1, 3, 3)
    return ad.linalg.matrix_exp(cross)


def seen(poses, points):
    """Where camera i sees point j: (cameras, points, 2). A pose is a rotation vector and a shift."""
    local = points @ rotation(poses[:, :3]).mT + poses[:, None, 3:]
    return local[..., :2] / local[..., 2:]


# %%
# The truth: points in a ball, cameras on an arc around it. Measurements have noise of a thousandth of the focal length.

angles = np.linspace(-0.9, 0.9, CAMERAS)
true_poses = ad.tensor(np.stack([0 * angles, angles, 0 * angles, 0 * angles, 0 * angles, 5 + 0 * angles], 1))
true_points = ad.tensor(random.normal(size=(POINTS, 3)))
measured = seen(true_poses, true_points) + 1e-3 * ad.tensor(random.normal(size=(CAMERAS, POINTS, 2)))

# %%
# The unknowns start wrong. The first camera stays where it is and the second keeps its shift along x, or everything could turn, move and grow.

FREE = np.ones((CAMERAS, 6), bool)
FREE[0] = FREE[1, 3] = False
free = ad.tensor(np.flatnonzero(FREE))
start_poses = true_poses + 0.1 * ad.tensor(random.normal(size=(CAMERAS, 6)) * FREE)
start_points = true_points + 0.3 * ad.tensor(random.normal(size=(POINTS, 3)))


def unpacked(unknowns):
    poses = true_poses.flatten().index_copy(0, free, unknowns[: len(free)])
    return poses.view(CAMERAS, 6), unknowns[len(free) :].view(POINTS, 3)


def residuals(unknowns):
    return (seen(*unpacked(unknowns)) - measured).flatten()


# %%
# Levenberg and Marquardt: Gauss and Newton's step, held back where it would overshoot.

unknowns = ad.cat([start_poses.flatten()[free], start_points.flatten()])
jacobian = ad.func.jacfwd(residuals)
damping, costs = 1e-3, [residuals(unknowns).square().sum().item()]
for _ in range(15):
    r, J = residuals(unknowns), jacobian(unknowns)
    normal = J.T @ J
    step = ad.linalg.solve(normal + damping * normal.diagonal().diag(), J.T @ r)
    cost = residuals(unknowns - step).square().sum().item()
    if cost < costs[-1]:
        unknowns, damping = unknowns - step, damping / 5
        costs.append(cost)
    else:
        damping *= 5

poses, points = unpacked(unknowns)
error = (residuals(unknowns).square().mean().sqrt()).item()
distance = (points - true_points).norm(dim=1).mean().item()
print(f"{len(unknowns)} unknowns, {len(measured.flatten())} measurements, {len(costs) - 1} steps")
print(f"residual {1e3 * error:.2f} thousandths; points {distance:.4f} from the truth (at first {0.3 * np.sqrt(8 / np.pi):.2f})")

# %%
# Seen from above, and the cost by steps.

figure, (above, curve) = plt.subplots(1, 2, figsize=(10, 4.5))
above.plot(true_points[:, 0], true_points[:, 2], "o", color="0.6", mfc="none", ms=9, label="true")
above.plot(start_points[:, 0], start_points[:, 2], "x", color="tab:orange", alpha=0.6, label="start")
above.plot(points[:, 0], points[:, 2], ".", color="tab:blue", label="found")
places = -(rotation(poses[:, :3]).mT @ poses[:, 3:, None]).squeeze(-1)
above.plot(places[:, 0], places[:, 2], "^k", label="cameras")
above.set(xlabel="x", ylabel="z", aspect="equal")
above.legend()
curve.semilogy(costs, "o-")
curve.set(xlabel="step", ylabel="sum of squares")
figure.tight_layout()
figure.savefig("bundle_adjustment.png")
