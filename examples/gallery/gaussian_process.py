"""
A Gaussian process by marginal likelihood
=========================================

Thirty noisy values of an unknown function. A Gaussian process fits a curve with an error band; its length scale, its size and the noise
follow from the likelihood of the data, whose derivative runs through a Cholesky factorisation.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import adjoint as ad

random = np.random.default_rng(0)
NOISE = 0.15


def truth(x):
    return np.sin(3 * x) * np.exp(-0.3 * x) + 0.4 * x


x = ad.tensor(np.sort(random.uniform(0, 5, 30)))
y = ad.tensor(truth(x.numpy()) + NOISE * random.normal(size=30))


# %%
# The covariance of two values falls with their distance.


def kernel(a, b, length, size):
    return size**2 * (-0.5 * ((a[:, None] - b) / length) ** 2).exp()


def minus_log_likelihood(logs):
    """Of the data, given the logarithms of length scale, size and noise."""
    length, size, noise = logs.exp()
    lower = ad.linalg.cholesky(kernel(x, x, length, size) + noise**2 * ad.eye(len(x), dtype=ad.float64))
    alpha = ad.linalg.solve_triangular(lower, y[:, None], upper=False)
    return 0.5 * alpha.square().sum() + lower.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)


# %%
# Three unknowns: Newton's method with the exact Hessian (forward over reverse), shortened where it would go up.

logs = ad.zeros(3, dtype=ad.float64)
gradient, hessian = ad.func.grad(minus_log_likelihood), ad.func.hessian(minus_log_likelihood)
for _ in range(30):
    g, (values, vectors) = gradient(logs), ad.linalg.eigh(hessian(logs))
    step = vectors @ ((vectors.T @ g) / values.abs().clamp(min=1e-3))  # downhill where the likelihood curves the wrong way
    if g.norm() < 1e-9:
        break
    while minus_log_likelihood(logs - step) > minus_log_likelihood(logs):
        step = step / 2
    logs = logs - step
length, size, noise = logs.exp()
print(f"length scale {length:.2f}, size {size:.2f}, noise {noise:.3f} (true {NOISE})")
print(f"gradient at the end {gradient(logs).norm().item():.1e}")

# %%
# The posterior, and its slope: the derivative of the mean by the place is one more call.

covariance = kernel(x, x, length, size) + noise**2 * ad.eye(len(x), dtype=ad.float64)
weights = ad.linalg.solve(covariance, y)


def mean(place):
    return kernel(place[None], x, length, size)[0] @ weights


places = ad.linspace(-0.5, 5.5, 200, dtype=ad.float64)
cross = kernel(places, x, length, size)
middle = ad.vmap(mean)(places)
band = 2 * (size**2 - (cross * ad.linalg.solve(covariance, cross.T).T).sum(1)).clamp(min=0).sqrt()
slope = ad.vmap(ad.func.grad(mean))(places)

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5.5), sharex=True, height_ratios=[2, 1])
above.plot(places, truth(places.numpy()), "k--", lw=1, label="true")
above.plot(places, middle, color="tab:blue", label="mean")
above.fill_between(places, middle - band, middle + band, color="tab:blue", alpha=0.2, lw=0)
above.plot(x, y, "o", color="tab:orange", ms=4, label="data")
above.legend()
below.plot(places, slope, color="tab:green")
below.set(xlabel="x", ylabel="slope of the mean")
figure.tight_layout()
figure.savefig("gaussian_process.png")
