"""
Swinging up a pendulum
======================

A motor too weak to lift a pendulum must swing it up. Which torque at each moment does it? Simulate the whole swing, measure how far the
end is from standing still on top, and follow the derivative with respect to all torques at once: optimal control by shooting.
"""

import matplotlib.pyplot as plt
import numpy as np

import adjoint as ad

STEPS, DT = 120, 0.05
GRAVITY, STRONGEST = 9.81, 4.0  # of a pendulum of length and mass 1: holding it level takes a torque of 9.81

# %%
# The swing: angle 0 hangs, pi stands. Runge and Kutta's method of fourth order.


def change(state, torque):
    angle, speed = state
    return ad.stack([speed, torque - GRAVITY * angle.sin() - 0.1 * speed])


def step(state, torque):
    a = change(state, torque)
    b = change(state + 0.5 * DT * a, torque)
    c = change(state + 0.5 * DT * b, torque)
    d = change(state + DT * c, torque)
    return state + DT / 6 * (a + 2 * b + 2 * c + d)


def swing(torques):
    """All states, the first one hanging still."""
    states = [ad.zeros(2, dtype=torques.dtype)]
    for torque in torques:
        states.append(step(states[-1], torque))
    return ad.stack(states)


def cost(raw):
    """Far from the top at the end is bad, and so is effort; tanh keeps the motor within its strength."""
    torques = STRONGEST * raw.tanh()
    angle, speed = swing(torques)[-1]
    return 20 * (1 + angle.cos()) + speed**2 + 0.01 * (torques**2).sum() * DT


# %%
# LBFGS over 120 torques. The first guess pushes once each way, with some noise.

random = np.random.default_rng(2)
raw = ad.tensor(0.3 * np.sin(np.arange(STEPS) * DT * np.sqrt(GRAVITY)) + 0.01 * random.normal(size=STEPS), requires_grad=True)
optimizer = ad.optim.LBFGS([raw], max_iter=60, line_search_fn="strong_wolfe")
costs = []


def closure():
    optimizer.zero_grad()
    value = cost(raw)
    value.backward()
    costs.append(value.item())
    return value


optimizer.step(closure)
with ad.no_grad():
    torques = STRONGEST * raw.tanh()
    states = swing(torques)
angle, speed = states[-1].tolist()
missed = abs(abs(angle) - np.pi)
print(f"{len(costs)} simulations; ends {np.degrees(missed):.2f} degrees from the top at {speed:.3f} rad/s")
print(f"strongest torque {torques.abs().max().item():.2f} of the {GRAVITY} that lifting it would take")

# %%
# Angle and torque by time, and the swing drawn: later positions darker.

time = DT * np.arange(STEPS + 1)
figure, axes = plt.subplot_mosaic([["angle", "swing"], ["torque", "swing"]], figsize=(9, 4.5), width_ratios=[1.4, 1])
axes["angle"].plot(time, np.degrees(states[:, 0].numpy()))
axes["angle"].axhline(np.degrees(np.copysign(np.pi, angle)), color="0.6", lw=1)
axes["angle"].set_ylabel("angle (degrees)")
axes["torque"].step(time[:-1], torques, color="tab:orange")
axes["torque"].set(xlabel="time", ylabel="torque", ylim=(-4.4, 4.4))
for k in range(0, STEPS + 1, 3):
    end = states[k, 0].item()
    axes["swing"].plot([0, np.sin(end)], [0, -np.cos(end)], color="tab:blue", alpha=0.1 + 0.9 * k / STEPS)
axes["swing"].set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
axes["swing"].axis("off")
figure.tight_layout()
figure.savefig("optimal_control.png")
