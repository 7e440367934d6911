"""Recurrent layers as functions of all their weights, under the names of the `torch` namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, int64

from .._func.functional_call import functional_call
from .modules.recurrent import RNNBase
from .modules.steps import MODES
from .utils.packed import PackedSequence

__all__ = ["gru", "lstm", "rnn_relu", "rnn_tanh"]


def _layers(
    mode: str,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Layers of these weights: those of one layer and direction are w_ih, w_hh, b_ih, b_hh and, with projections, w_hr."""
    directions = num_layers * (2 if bidirectional else 1)
    if directions < 1 or len(params) < 2 * directions:
        raise RuntimeError(
            f"{mode.lower()}: expected a layer at least and two weights or more for each direction of it, "
            f"got num_layers = {num_layers} and {len(params)} weights"
        )
    each = len(params) // directions
    out, hidden = params[1].size(1), params[1].size(0) // MODES[mode].gates
    sizes = (params[0].size(1), hidden, num_layers, has_biases, batch_first, dropout, bidirectional, out if each % 2 else 0)
    layers = RNNBase(mode, *sizes, device="meta", dtype=params[0].dtype).train(train)
    names = layers._flat_weights_names
    if len(names) != len(params):
        raise RuntimeError(f"{mode.lower()}: expected {len(names)} weights for {num_layers} layers, got {len(params)}")
    return lambda input, hx: functional_call(layers, dict(zip(names, params, strict=True)), (input, hx))


def _flat(y: Tensor, ends: Any) -> tuple[Tensor, ...]:
    return (y, *(ends if isinstance(ends, tuple) else (ends,)))


def _function(mode: str, name: str) -> Callable[..., tuple[Tensor, ...]]:
    def padded(
        input: Tensor,
        hx: Any,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        layers = _layers(mode, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
        return _flat(*layers(input, hx))

    def packed(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Any,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[Tensor, ...]:
        layers = _layers(mode, params, has_biases, num_layers, dropout, train, bidirectional, False)
        y, ends = layers(PackedSequence(data, batch_sizes), hx)
        return _flat(y.data, ends)

    def run(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        second = args[1] if len(args) > 1 else kwargs.get("batch_sizes")
        return (packed if isinstance(second, Tensor) and second.dtype == int64 else padded)(*args, **kwargs)

    padded.__name__ = padded.__qualname__ = packed.__name__ = packed.__qualname__ = name  # which errors about arguments say
    nonlinearity = ', nonlinearity="relu"' if name == "rnn_relu" else ""
    state = "(h, h)" if mode == "LSTM" else "h"
    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"""`nn.{mode.partition("_")[0]}` as a function of a padded batch or of a packed one.

    Arguments:
        input: (L, N, in), or (N, L, in) if ``batch_first``; packed: the data of a sequence, and behind it its batch sizes.
        hx: the state; of an LSTM, two tensors.
        params: all weights, layer by layer and direction by direction.
        has_biases, num_layers, dropout, train, bidirectional, batch_first: as in the layer; ``batch_first`` of a padded batch only.

    Returns:
        The outputs and the last states, flat in one tuple.

    Example::

        >>> layer, x, h = ad.nn.{mode.partition("_")[0]}(3, 4{nonlinearity}), ad.ones(5, 1, 3), ad.zeros(1, 1, 4)
        >>> found = ad.{name}(x, {state}, list(layer.parameters()), True, 1, 0.0, True, False, False)
        >>> found[0].equal(layer(x)[0])
        True
    """
    return run


lstm = _function("LSTM", "lstm")
gru = _function("GRU", "gru")
rnn_tanh = _function("RNN_TANH", "rnn_tanh")
rnn_relu = _function("RNN_RELU", "rnn_relu")
