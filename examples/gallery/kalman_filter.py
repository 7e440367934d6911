"""
Noise levels of a Kalman filter
===============================

A weight on a spring moves under random pushes; its position is measured with noise. How large are the pushes, and how large is the noise? The Kalman
filter gives the likelihood of the measurements for any guess of the two. Its derivative with respect to both runs backward through all
the filter's steps, and LBFGS climbs along it.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import adjoint as ad

STEPS, DT, SPRING = 300, 0.1, 0.5
TRUE_PUSH, TRUE_NOISE = 1.5, 0.4

# %%
# The measurements: position and velocity, pushed at every step, the position seen through noise.

random = np.random.default_rng(1)
state, positions, measured = np.zeros(2), [], []
for _ in range(STEPS):
    push = TRUE_PUSH * math.sqrt(DT) * random.normal()
    state = state + np.array([DT * state[1], push - DT * SPRING * state[0]])
    positions.append(state[0])
    measured.append(state[0] + TRUE_NOISE * random.normal())

# %%
# The filter predicts the next measurement and its variance, compares, and corrects itself.

F = ad.tensor([[1.0, DT], [-DT * SPRING, 1.0]], dtype=ad.float64)
H = ad.tensor([[1.0, 0.0]], dtype=ad.float64)
Z = ad.tensor(measured, dtype=ad.float64)


def filtered(log_push, log_noise):
    """Minus the log-likelihood of the measurements, and what the filter believes after each: position and its variance."""
    push = ad.stack([ad.zeros((), dtype=ad.float64), log_push.exp() ** 2 * DT]).diag()
    mean, spread = ad.zeros(2, dtype=ad.float64), ad.eye(2, dtype=ad.float64)
    loss, beliefs = 0.0, []
    for z in Z:
        mean, spread = F @ mean, F @ spread @ F.T + push
        expected, variance = H @ mean, H @ spread @ H.T + log_noise.exp() ** 2
        surprise = z - expected
        loss = loss + 0.5 * (variance.log() + surprise**2 / variance + math.log(2 * math.pi)).sum()
        gain = spread @ H.T / variance
        mean, spread = mean + (gain * surprise).squeeze(1), spread - gain @ H @ spread
        beliefs.append((mean[0], spread[0, 0]))
    return loss, beliefs


# %%
# Climb from a bad guess, in logarithms, so that both levels stay positive.

levels = ad.zeros(2, dtype=ad.float64, requires_grad=True)
optimizer = ad.optim.LBFGS([levels], max_iter=20, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss, _ = filtered(levels[0], levels[1])
    loss.backward()
    return loss


optimizer.step(closure)
push, noise = levels.exp().tolist()
print(f"pushes {push:.2f} (true {TRUE_PUSH}), noise {noise:.2f} (true {TRUE_NOISE})")

# %%
# The curvature of the likelihood says how sure that is: the inverse Hessian is the covariance of the estimate.

hessian = ad.func.hessian(lambda levels: filtered(levels[0], levels[1])[0])(levels.detach())
deviation = ad.linalg.inv(hessian).diagonal().sqrt()
print(f"relative uncertainty: pushes {100 * deviation[0].item():.0f} %, noise {100 * deviation[1].item():.0f} %")

# %%
# What the filter believes.

with ad.no_grad():
    mean, variance = (np.array(values) for values in zip(*filtered(levels[0], levels[1])[1]))
time, band = DT * np.arange(STEPS), 2 * np.sqrt(variance)
plt.figure(figsize=(8, 4))
plt.plot(time, measured, ".", color="0.7", label="measured")
plt.plot(time, positions, color="k", lw=1, label="true")
plt.plot(time, mean, color="tab:blue", label="filter")
plt.fill_between(time, mean - band, mean + band, color="tab:blue", alpha=0.25, lw=0)
plt.xlabel("time")
plt.ylabel("position")
plt.legend()
plt.tight_layout()
plt.savefig("kalman_filter.png")
