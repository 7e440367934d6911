"""
A neural ordinary differential equation
=======================================

A point spirals inwards. From noisy pictures of its path a network learns the law of motion, the speed at each place: integrate the network,
compare with what was seen, and differentiate through the integrator.
"""

import matplotlib.pyplot as plt

import adjoint as ad

STEPS, DT = 60, 0.1
ad.manual_seed(1)


def law(x):
    """The truth, which the network does not know."""
    return (x**3) @ ad.tensor([[-0.1, 2.0], [-2.0, -0.1]]).T


def integrate(speed, x, steps):
    """Positions (steps + 1, batch, 2), by Runge and Kutta's method of fourth order."""
    path = [x]
    for _ in range(steps):
        a = speed(x)
        b = speed(x + 0.5 * DT * a)
        c = speed(x + 0.5 * DT * b)
        d = speed(x + DT * c)
        x = x + DT / 6 * (a + 2 * b + 2 * c + d)
        path.append(x)
    return ad.stack(path)


# %%
# What is seen: one path, with noise.

start = ad.tensor([[1.6, 0.0]])
true = integrate(law, start, STEPS)[:, 0]
seen = true + 0.02 * ad.randn(*true.shape)

# %%
# Learn from short pieces: 32 of them in a batch, each 8 steps long.

network = ad.nn.Sequential(ad.nn.Linear(2, 48), ad.nn.Tanh(), ad.nn.Linear(48, 2))


def speed(x):
    return network(x**3)


optimizer = ad.optim.Adam(network.parameters(), lr=1e-2)
schedule = ad.optim.lr_scheduler.CosineAnnealingLR(optimizer, 500)
losses = []
for _ in range(500):
    first = ad.randint(0, STEPS - 8, (32,))
    target = ad.stack([seen[first + k] for k in range(9)])
    loss = (integrate(speed, target[0], 8) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())

# %%
# The whole path from its beginning alone, which training never asked for; and the stability at the centre of what was learnt: the eigenvalues
# of the Jacobian of the flow over the whole time.

with ad.no_grad():
    path = integrate(speed, start, STEPS)[:, 0]
error = (path - true).norm(dim=1).mean().item()
flow = ad.func.jacfwd(lambda x: integrate(speed, x[None], STEPS)[-1, 0])(start[0])
shrinks = ad.linalg.det(flow).abs().item()
print(f"mean distance from the true path {error:.3f}; an area at the start shrinks to {shrinks:.2f} of itself")

figure, (plane, curve) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
x, y = ad.meshgrid(ad.linspace(-2, 2, 18), ad.linspace(-2, 2, 18), indexing="xy")
with ad.no_grad():
    arrows = speed(ad.stack([x, y], 2).view(-1, 2)).view(18, 18, 2)
arrows = arrows / arrows.norm(dim=2, keepdim=True)
plane.quiver(x, y, arrows[..., 0], arrows[..., 1], color="0.75")
plane.plot(seen[:, 0], seen[:, 1], ".", color="tab:orange", ms=4, label="seen")
plane.plot(true[:, 0], true[:, 1], "k", lw=1, label="true")
plane.plot(path[:, 0], path[:, 1], "tab:blue", label="learnt")
plane.set(aspect="equal")
plane.legend()
curve.semilogy(losses, lw=0.7)
curve.set(xlabel="step", ylabel="loss")
figure.savefig("neural_ode.png")
