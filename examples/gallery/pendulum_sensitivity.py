"""
Sensitivity of a simulation
===========================

Two weights on rods: a double pendulum is chaotic. How does where it is depend on how it began? Forward mode carries the derivative along
with the simulation; its growth is the Lyapunov exponent, and a fit from a short film shows how far ahead the motion can be told.
"""

import matplotlib.pyplot as plt
import numpy as np

import adjoint as ad

DT, STEPS = 0.01, 1500
ad.set_default_dtype(ad.float64)


def change(state):
    """Of two angles and two speeds; rods and weights are 1."""
    a, b, u, v = state
    c, s = (a - b).cos(), (a - b).sin()
    under = 2 - c * c
    du = (-s * (c * u * u + v * v) - 9.81 * (2 * a.sin() - c * b.sin())) / under
    dv = (s * (2 * u * u + c * v * v) + 9.81 * 2 * (c * a.sin() - b.sin())) / under
    return ad.stack([u, v, du, dv])


def step(x):
    a = change(x)
    b = change(x + 0.5 * DT * a)
    c = change(x + 0.5 * DT * b)
    return x + DT / 6 * (a + 2 * b + 2 * c + change(x + DT * c))


# %%
# The state and all four tangents go along together: vmap over the directions of jvp.


def carried(x, tangents):
    """One step of the state and of the matrix whose rows are tangents."""
    moved = ad.vmap(lambda t: ad.func.jvp(step, (x,), (t,))[1])(tangents)
    return step(x), moved


def simulate(start):
    """The motion, the growth of the largest tangent, and the exponent."""
    x, tangents, growth, states = start, ad.eye(4), [0.0], [start]
    for _ in range(STEPS):
        x, tangents = carried(x, tangents)
        size = ad.linalg.svdvals(tangents)[0]
        growth.append(growth[-1] + size.log().item())
        tangents = tangents / size  # or it would overflow
        states.append(x)
    return ad.stack(states), np.array(growth)


with ad.no_grad():
    wild, growth = simulate(ad.tensor([2.0, 2.5, 0.0, 0.0]))
    calm, calm_growth = simulate(ad.tensor([0.3, 0.2, 0.0, 0.0]))
exponent = np.polyfit(DT * np.arange(STEPS // 3, STEPS + 1), growth[STEPS // 3 :], 1)[0]
calm_exponent = np.polyfit(DT * np.arange(STEPS // 3, STEPS + 1), calm_growth[STEPS // 3 :], 1)[0]
print(f"errors grow by e^({exponent:.2f} t) in the wild swing, e^({calm_exponent:.2f} t) in the calm one")
print(f"an error of a millionth is as large as the pendulum after {np.log(1e6) / exponent:.0f} time units")


# %%
# A check: the tangent is what two nearby runs differ by, as long as the difference is small.

with ad.no_grad():
    nearby = [ad.tensor([2.0 + 1e-9, 2.5, 0.0, 0.0])]
    tangent = ad.eye(4)[:1]
    x = wild[0]
    for _ in range(300):
        nearby.append(step(nearby[-1]))
        x, tangent = carried(x, tangent)
    difference = (nearby[-1] - wild[300]) / 1e-9
error = ((difference - tangent[0]).norm() / tangent.norm()).item()
print(f"after 300 steps forward mode and a difference of two runs agree to {error:.1e}")

figure, (path, curve) = plt.subplots(1, 2, figsize=(9.5, 4.2))
for states, color, name in ((wild, "tab:orange", "wild"), (calm, "tab:blue", "calm")):
    a, b = states[:, 0].numpy(), states[:, 1].numpy()
    path.plot(np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b), color=color, lw=0.8, label=name)
path.set(aspect="equal", title="path of the lower weight")
path.legend()
for values, color in ((growth, "tab:orange"), (calm_growth, "tab:blue")):
    curve.semilogy(DT * np.arange(STEPS + 1), np.exp(values), color=color)
curve.set(xlabel="time", title="growth of a small error")
figure.tight_layout()
figure.savefig("pendulum_sensitivity.png")
ad.set_default_dtype(ad.float32)
