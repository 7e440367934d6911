"""
A physics-informed network
==========================

A network that solves the heat equation :math:`u_t = k\\,u_{xx}` on a rod with cold ends: the loss is how far it is from obeying the equation
at random places and times. The derivatives by place and time are forward mode inside of forward mode, those by the weights reverse mode
around it.
"""

import math

import matplotlib.pyplot as plt

import adjoint as ad

HEAT = 0.1
ad.manual_seed(0)


def begin(x):
    """The temperatures at time 0."""
    return (math.pi * x).sin() + 0.5 * (2 * math.pi * x).sin()


def exact(x, t):
    slow = (-HEAT * math.pi**2 * t).exp() * (math.pi * x).sin()
    return slow + 0.5 * (-4 * HEAT * math.pi**2 * t).exp() * (2 * math.pi * x).sin()


# %%
# The network is multiplied and shifted so that ends and beginning are right by construction.

network = ad.nn.Sequential(ad.nn.Linear(2, 32), ad.nn.Tanh(), ad.nn.Linear(32, 32), ad.nn.Tanh(), ad.nn.Linear(32, 1))


def u(x, t):
    return begin(x) + x * (1 - x) * t * network(ad.stack([x, t], 1)).squeeze(1)


def along(f, x):
    """The derivative of each result by its own x: one forward pass for the whole batch."""
    return ad.func.jvp(f, (x,), (ad.ones_like(x),))[1]


def residual(x, t):
    u_t = along(lambda t: u(x, t), t)
    u_xx = along(lambda x: along(lambda x: u(x, t), x), x)
    return u_t - HEAT * u_xx


# %%
# Train at new random points in each step.

optimizer = ad.optim.Adam(network.parameters(), lr=5e-3)
schedule = ad.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
losses = []
for _ in range(1000):
    x, t = ad.rand(128), ad.rand(128)
    loss = residual(x, t).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())

# %%
# Compare with the solution in closed form.

x, t = ad.meshgrid(ad.linspace(0, 1, 80), ad.linspace(0, 1, 80), indexing="ij")
with ad.no_grad():
    found, true = u(x.flatten(), t.flatten()).view(80, 80), exact(x, t)
error = (found - true).abs().max().item()
print(f"loss {losses[0]:.2f} -> {losses[-1]:.1e}; largest error {error:.4f} of temperatures up to {true.max().item():.2f}")

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for panel, values, title in zip(axes, (found, (found - true).abs()), ("temperature", "error")):
    image = panel.imshow(values, extent=(0, 1, 1, 0), aspect="auto", cmap="inferno")
    panel.set(title=title, xlabel="time", ylabel="place")
    figure.colorbar(image, ax=panel)
axes[2].semilogy(losses, lw=0.7)
axes[2].set(title="loss", xlabel="step")
figure.savefig("physics_informed_network.png")
