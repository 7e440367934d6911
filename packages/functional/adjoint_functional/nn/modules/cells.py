"""One step of recurrent networks as functions of a state and weights, under the names of the `torch` namespace."""

from __future__ import annotations

from adjoint_core import Tensor

from ..functional.linear import linear
from .steps import MODES, State

__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"]


def _after(
    mode: str, input: Tensor, state: State, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> State:
    return MODES[mode].step(linear(input, w_ih, b_ih), linear(state[0], w_hh, b_hh), state)


def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).

    Example::

        >>> ad.rnn_tanh_cell(ad.ones(1, 2), ad.zeros(1, 1), ad.ones(1, 2), ad.ones(1, 1))
        tensor([[0.9640]])
    """
    return _after("RNN_TANH", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """relu(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).

    Example::

        >>> ad.rnn_relu_cell(ad.ones(1, 2), ad.zeros(1, 1), ad.ones(1, 2), ad.ones(1, 1))
        tensor([[2.]])
    """
    return _after("RNN_RELU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def lstm_cell(
    input: Tensor, hx: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The new output and cell of `nn.LSTMCell`; weights hold the gates input, forget, cell, output one below the other.

    Example::

        >>> h, c = ad.lstm_cell(ad.ones(1, 2), (ad.zeros(1, 1), ad.zeros(1, 1)), ad.ones(4, 2), ad.ones(4, 1))
        >>> h, c
        (tensor([[0.6083]]), tensor([[0.8491]]))
    """
    h, c = _after("LSTM", input, tuple(hx), w_ih, w_hh, b_ih, b_hh)
    return h, c


def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """The new state of `nn.GRUCell`; weights hold the gates reset, update, new one below the other.

    Example::

        >>> ad.gru_cell(ad.ones(1, 2), ad.zeros(1, 1), ad.ones(3, 2), ad.ones(3, 1))
        tensor([[0.1149]])
    """
    return _after("GRU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]
