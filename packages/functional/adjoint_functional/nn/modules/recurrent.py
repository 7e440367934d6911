"""Recurrent layers, one step after the other."""

from __future__ import annotations

import math
import warnings
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine._engine import is_autocast_enabled

from .. import functional as F
from .. import init
from ..utils.packed import PackedSequence
from .linear import parameter
from .lstm import LSTMLayer, is_plain
from .module import Module
from .steps import MODES, Mode, State, lstm_step

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]


def _mode_of(nonlinearity: str) -> str:
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
    return f"RNN_{nonlinearity.upper()}"


def _expect_type(layer: str, argument: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{layer}: {argument} should be of type {kind.__name__}, got: {type(value).__name__}")


class _Recurrent(Module):
    _mode: Mode

    def _weights(self, suffix: str, sizes: dict[str, tuple[int, ...]], device: Any, dtype: Any) -> None:
        for name, size in sizes.items():
            setattr(self, name + suffix, parameter(*size, device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Draws new values, uniform in ±1/sqrt(hidden size)."""
        init.uniform_within(self, 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0)


class RNNBase(_Recurrent):
    """What `RNN`, `LSTM` and `GRU` have in common; ``mode`` is "RNN_TANH", "RNN_RELU", "LSTM" or "GRU"."""

    __constants__ = (
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size",
    )  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if mode not in MODES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        _expect_type(name, "bias", bias, bool)
        _expect_type(name, "batch_first", batch_first, bool)
        if not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout should be a number in range [0, 1], got {dropout}")
        for argument, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            _expect_type(name, argument, size, int)
            if size <= 0:
                raise ValueError(f"{name}: {argument} must be greater than zero, got {size}")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
                f"but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=3,
            )
        if proj_size and mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if not 0 <= proj_size < hidden_size:
            raise ValueError(f"{name}: proj_size has to be smaller than hidden_size, got {proj_size}")
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = (
            batch_first,
            float(dropout),
            bidirectional,
            proj_size,
        )
        out, gates = proj_size or hidden_size, MODES[mode].gates * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            width = input_size if layer == 0 else out * len(self._directions())
            sizes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, out)}
            if bias:
                sizes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
            if proj_size:
                sizes["weight_hr"] = (proj_size, hidden_size)
            for direction in self._directions():
                self._weights(f"_l{layer}{direction}", sizes, device, dtype)
                self._all_weights.append([f"{name}_l{layer}{direction}" for name in sizes])
        self.reset_parameters()

    @property
    def _mode(self) -> Mode:
        return MODES[self.mode]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises where the input does not fit; ``batch_sizes`` are those of a packed sequence."""
        self._check(input, (2, 3) if batch_sizes is None else (2,))

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Of a state: layers and directions, batch, features."""
        batch = input.size(0 if self.batch_first else 1) if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * len(self._directions()), batch, self.proj_size or self.hidden_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, ...], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raises where a state has another size."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raises where the input or the state does not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """A state with its sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> tuple[Any, Any]:
        """(L, N, in), (N, L, in) if ``batch_first``, or (L, in), to the outputs of the last layer and the last states of all.

        A state is (layers · directions, N, hidden), or without N; absent ones are zero. Of a packed sequence, the outputs are packed,
        and the states those after the last step of each sequence.
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        self._check(input, (2, 3))
        alone = input.dim() == 2
        x = input.unsqueeze(1) if alone else input.transpose(0, 1) if self.batch_first else input
        x, ends = self._all_layers(x, self._initial(x, x.size(1), hx, alone), [x.size(1)] * x.size(0), False)
        if alone:
            x, ends = x.squeeze(1), [e.squeeze(1) for e in ends]
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, ends[0] if self._mode.parts == 1 else tuple(ends)

    def _check(self, input: Tensor, dims: tuple[int, ...]) -> None:
        if input.dim() not in dims:
            expected = " or ".join(f"{d}D" for d in dims)
            raise ValueError(f"{type(self).__name__}: Expected input to be {expected}, got {input.dim()}D instead")
        weight = getattr(self, self._all_weights[0][0])
        if input.dtype != weight.dtype and not is_autocast_enabled(input.device.type):
            raise ValueError(
                f"{type(self).__name__} input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        self._check(input.data, (2,))
        counts: list[int] = input.batch_sizes.tolist()
        states = self._initial(input.data, counts[0], hx, False)
        if input.sorted_indices is not None and hx is not None:
            states = [s.index_select(1, input.sorted_indices) for s in states]
        x, ends = self._all_layers(input.data, states, counts, True)
        if input.unsorted_indices is not None:
            ends = [e.index_select(1, input.unsorted_indices) for e in ends]
        return input._replace(data=x), ends[0] if self._mode.parts == 1 else tuple(ends)

    def _all_layers(self, x: Tensor, states: list[Tensor], counts: list[int], packed: bool) -> tuple[Tensor, list[Tensor]]:
        """The outputs of the last layer and the last states of all; ``counts`` says how many sequences last each step."""
        last: list[State] = []
        for layer in range(self.num_layers):
            found = [
                self._run(x, f"_l{layer}{d}", tuple(s[len(last) + k] for s in states), bool(d), counts, packed)
                for k, d in enumerate(self._directions())
            ]
            last += [state for _, state in found]
            x = found[0][0] if len(found) == 1 else core.cat([y for y, _ in found], -1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        return x, [core.stack([state[k] for state in last]) for k in range(self._mode.parts)]

    def _initial(self, x: Tensor, batch: int, hx: Any, alone: bool) -> list[Tensor]:
        count = self.num_layers * len(self._directions())
        sizes = [(count, batch, self.proj_size or self.hidden_size), (count, batch, self.hidden_size)][: self._mode.parts]
        if hx is None:
            return [core.zeros(size, dtype=x.dtype, device=x.device) for size in sizes]
        given = [hx] if self._mode.parts == 1 else list(hx)
        states = [s.unsqueeze(1) if alone else s for s in given]
        for state, size in zip(states, sizes, strict=True):
            if tuple(state.shape) != size:
                raise RuntimeError(f"Expected hidden size {size}, got {list(state.shape)}")
        return states

    def _run(
        self, x: Tensor, suffix: str, state: State, backwards: bool, counts: list[int], packed: bool
    ) -> tuple[Tensor, State]:
        """All steps of one layer in one direction. Sequences begin and end at the end of the batch, where the shorter ones stand."""
        w = {n: getattr(self, n + suffix, None) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")}
        step, outputs, start, ended = self._mode.step, [], state, []
        bias, state_bias = w["bias_ih"], w["bias_hh"]
        if self._mode.sums and bias is not None:
            bias, state_bias = bias + state_bias, None
        weights = w["weight_ih"], w["weight_hh"], bias
        if step is lstm_step and not packed and w["weight_hr"] is None and is_plain(x, *weights, *state):
            y, c = LSTMLayer.apply(x, *weights, *state, backwards)
            return y, (y[0 if backwards else -1], c)
        parts = F.linear(x, w["weight_ih"], bias)
        steps = list(zip(parts.split(counts) if packed else parts.unbind(0), counts))
        rows = counts[-1] if backwards and counts else start[0].size(0)
        if rows < start[0].size(0):
            state = tuple(s[:rows] for s in start)
        for gates, n in reversed(steps) if backwards else steps:
            if n < rows:
                ended.append(tuple(s[n:] for s in state))
                state = tuple(s[:n] for s in state)
            elif n > rows:
                state = tuple(core.cat([s, first[rows:n]]) for s, first in zip(state, start))
            rows = n
            state = step(gates, F.linear(state[0], w["weight_hh"], state_bias), state)
            if w["weight_hr"] is not None:
                state = (F.linear(state[0], w["weight_hr"]), *state[1:])
            outputs.append(state[0])
        if ended:
            state = tuple(core.cat([s, *(e[k] for e in reversed(ended))]) for k, s in enumerate(state))
        return (core.cat if packed else core.stack)(outputs[::-1] if backwards else outputs), state

    def flatten_parameters(self) -> None:
        """Kept for code that calls it: the weights need no other layout."""

    def extra_repr(self) -> str:
        """The sizes, and what is not as by default."""
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        changed = "".join(f", {k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v)
        return f"{self.input_size}, {self.hidden_size}{changed}"


class RNN(RNNBase):
    """``h = tanh(W_ih x + b_ih + W_hh h + b_hh)`` in layers; ``nonlinearity`` may be "relu". Otherwise as `LSTM`.

    Example::

        >>> y, h = ad.nn.RNN(3, 5)(ad.ones(7, 2, 3))
        >>> y.shape, h.shape
        (adjoint.Size([7, 2, 5]), adjoint.Size([1, 2, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity, args = args[3], (*args[:3], *args[4:])
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        super().__init__(_mode_of(self.nonlinearity), *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory in layers, in one direction or both.

    Arguments:
        input_size: of an input vector.
        hidden_size: of a state.
        num_layers: each but the first one reads the outputs of the one before.
        bias: add biases.
        batch_first: (N, L, ...) instead of (L, N, ...).
        dropout: probability of dropping outputs between layers, in training.
        bidirectional: a second pass from the end; outputs are concatenated.
        proj_size: if not 0, of the outputs, which a further matrix makes of the state.

    Example::

        >>> y, (h, c) = ad.nn.LSTM(3, 5, bidirectional=True)(ad.ones(7, 2, 3))
        >>> y.shape, h.shape, c.shape
        (adjoint.Size([7, 2, 10]), adjoint.Size([2, 2, 5]), adjoint.Size([2, 2, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Of the second part of a state."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raises where the input or the states do not fit."""
        self.check_input(input, batch_sizes)
        text = "Expected hidden[{}] size {{}}, got {{}}"
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), text.format(0))
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), text.format(1))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """States with their sequences in another order."""
        return hx if permutation is None else tuple(h.index_select(1, permutation) for h in hx)


class GRU(RNNBase):
    """Gated recurrent units in layers. Otherwise as `LSTM`.

    Example::

        >>> y, h = ad.nn.GRU(3, 5, batch_first=True)(ad.ones(2, 7, 3))
        >>> y.shape, h.shape
        (adjoint.Size([2, 7, 5]), adjoint.Size([1, 2, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(_Recurrent):
    """What the cells have in common, for ``isinstance``."""

    __constants__ = ("input_size", "hidden_size", "bias")
    _mode = MODES["RNN_TANH"]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self._weights("", {"weight_ih": (gates, input_size), "weight_hh": (gates, hidden_size)}, device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, parameter(gates, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """(N, in) or (in,), and the state before, to the state after."""
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        zero = core.zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)
        state = (zero,) * self._mode.parts if hx is None else (hx,) if self._mode.parts == 1 else tuple(hx)
        for i, part in enumerate(state):
            if part.dim() not in (1, 2):
                which = "hidden" if self._mode.parts == 1 else f"hx[{i}]"
                raise ValueError(f"{type(self).__name__}: Expected {which} to be 1D or 2D, got {part.dim()}D instead")
        x, h = F.linear(input, self.weight_ih, self.bias_ih), F.linear(state[0], self.weight_hh, self.bias_hh)
        after = self._mode.step(x, h, state)
        return after[0] if self._mode.parts == 1 else after

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.input_size}, {self.hidden_size}{'' if self.bias else ', bias=False'}"


class RNNCell(RNNCellBase):
    """One step of `RNN`.

    Example::

        >>> ad.nn.RNNCell(3, 5)(ad.ones(2, 3)).shape
        adjoint.Size([2, 5])
    """

    __constants__ = (*RNNCellBase.__constants__, "nonlinearity")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity
        _mode_of(nonlinearity)

    @property
    def _mode(self) -> Mode:  # type: ignore[override]
        return MODES[_mode_of(self.nonlinearity)]

    def extra_repr(self) -> str:
        """The sizes."""
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}")


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: the state is a pair.

    Example::

        >>> h, c = ad.nn.LSTMCell(3, 5)(ad.ones(2, 3))
        >>> h.shape
        adjoint.Size([2, 5])
    """

    _mode = MODES["LSTM"]

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)


class GRUCell(RNNCellBase):
    """One step of `GRU`.

    Example::

        >>> ad.nn.GRUCell(3, 5)(ad.ones(2, 3)).shape
        adjoint.Size([2, 5])
    """

    _mode = MODES["GRU"]

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)
