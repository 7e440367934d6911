"""What one step of a recurrent layer does, by its mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from adjoint_core import Tensor

__all__ = ["MODES", "Mode", "State", "Step", "lstm_step"]

State = tuple[Tensor, ...]
Step = Callable[[Tensor, Tensor, State], State]  # (input's part of the gates, state's part, state) -> state


def _tanh(x: Tensor, h: Tensor, state: State) -> State:
    return ((x + h).tanh(),)


def _relu(x: Tensor, h: Tensor, state: State) -> State:
    return ((x + h).relu(),)


def lstm_step(x: Tensor, h: Tensor, state: State) -> State:
    i, f, g, o = (x + h).chunk(4, -1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru(x: Tensor, h: Tensor, state: State) -> State:
    xr, xz, xn = x.chunk(3, -1)
    hr, hz, hn = h.chunk(3, -1)
    new = (xn + (xr + hr).sigmoid() * hn).tanh()
    return (new + (xz + hz).sigmoid() * (state[0] - new),)


class Mode(NamedTuple):
    """What one step does."""

    step: Step
    gates: int = 1
    parts: int = 1  # of the state
    sums: bool = True  # the step takes the sum of the input's and the state's part only, so that one bias does for both


MODES = {"RNN_TANH": Mode(_tanh), "RNN_RELU": Mode(_relu), "LSTM": Mode(lstm_step, 4, 2), "GRU": Mode(_gru, 3, 1, False)}
