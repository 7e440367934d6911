"""A layer of long short-term memory as one node of the graph, with the products of all steps in one where no step waits for another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Function, Parameter, enable_grad, grad, is_grad_enabled
from adjoint_engine._engine import any_lifted, is_autocast_enabled

from .. import functional as F
from .steps import lstm_step

__all__ = ["LSTMLayer", "is_plain"]


def is_plain(x: Tensor, *others: Tensor | None) -> bool:
    """Whether the layer is one node for these: of real numbers themselves, all of one type, at least one step of them."""
    given = [x, *(t for t in others if t is not None)]
    return (
        all(type(t) in (Tensor, Parameter) and t.dtype is x.dtype for t in given)
        and x.is_floating_point()
        and bool(x.numel())
        and not any_lifted(tuple(given))
        and not is_autocast_enabled(x.device.type)
    )


def _ordered(values: list[tuple[Tensor, ...]], backwards: bool) -> Iterable[tuple[Tensor, ...]]:
    """What belongs to each step, in the order of the steps."""
    return zip(*(v[::-1] for v in values)) if backwards else zip(*values)


def _composed(x: Tensor, w_ih: Tensor, w_hh: Tensor, bias: Tensor | None, h: Tensor, c: Tensor, backwards: bool) -> Any:
    """The same of operations that are recorded: what higher derivatives are of."""
    parts, state = F.linear(x, w_ih, bias).unbind(0), (h, c)
    outputs = []
    for (part,) in _ordered([parts], backwards):
        state = lstm_step(part, F.linear(state[0], w_hh), state)  # type: ignore[assignment]
        outputs.append(state[0])
    return core.stack(outputs[::-1] if backwards else outputs), state[1]


def _behind(values: Tensor, first: Tensor, backwards: bool) -> Tensor:
    """The values that each step began with: (steps, ...)."""
    return core.cat([values[1:], first[None]] if backwards else [first[None], values[:-1]])


def _slopes(gates: Tensor, cells: Tensor, first: Tensor, y: Tensor, backwards: bool) -> tuple[Tensor, Tensor]:
    """d cell / d (input, forget and cell gate) and d output / d output gate, (steps, batch, 4, hidden); d output / d cell.

    Of the numbers before the gates' own functions, with σ' = σ - σ² and tanh' = 1 - tanh².
    """
    i, f, g, o = gates.unbind(2)
    slopes = core.addcmul(gates, gates, gates, value=-1)
    core.addcmul(core.ones((), dtype=g.dtype, device=g.device), g, g, value=-1, out=slopes[:, :, 2])
    tanh = cells.tanh()
    for k, factor in enumerate((g, _behind(cells, first, backwards), i, tanh)):
        slopes[:, :, k].mul_(factor)
    return slopes, core.addcmul(o, y, tanh, value=-1)  # y is o tanh, so o (1 - tanh²)


class LSTMLayer(Function):
    """x (steps, batch, in), weights (4 hidden, in) and (4 hidden, hidden), bias, h and c (batch, hidden) to outputs and the last cell."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, w_ih: Tensor, w_hh: Tensor, bias: Tensor | None, h: Tensor, c: Tensor, backwards: bool
    ) -> tuple[Tensor, Tensor]:
        gates = F.linear(x, w_ih, bias)
        steps, (batch, hidden) = len(gates), h.shape
        y, cells = gates.new_empty((steps, batch, hidden)), gates.new_empty((steps, batch, hidden))
        last_h, last_c, w = h, c, w_hh.t().contiguous() if batch > 1 and steps > 2 else w_hh.t()
        both = gates[:, :, : 2 * hidden]  # input and forget gate
        views = [v.unbind(0) for v in (gates, both, *gates.chunk(4, 2), cells, y)]
        for all_gates, i_and_f, i, f, g, o, now, out in _ordered(views, backwards):
            all_gates.addmm_(last_h, w)
            i_and_f.sigmoid_()
            o.sigmoid_()
            g.tanh_()
            core.mul(f, last_c, out=now).addcmul_(i, g)
            last_h, last_c = core.tanh(now, out=out).mul_(o), now
        ctx.save_for_backward(x, w_ih, w_hh, bias, h, c, gates, cells, y)
        ctx.backwards = backwards
        return y, last_c.clone()

    @staticmethod
    def backward(ctx: Any, dy: Tensor, dc: Tensor) -> Any:
        *inputs, gates, cells, y = ctx.saved_tensors
        if is_grad_enabled():
            return *_again(inputs, ctx.needs_input_grad, (dy, dc), ctx.backwards), None
        x, w_ih, w_hh, bias, h, c = inputs
        steps, batch, hidden = y.shape
        found, of_cell = _slopes(gates.view(steps, batch, 4, hidden), cells, c, y, ctx.backwards)
        flat, dc, dh = found.view(steps, batch, 4 * hidden), dc.clone(), None
        wide_dc = dc.unsqueeze(1)
        views = [v.unbind(0) for v in (dy, of_cell, found[:, :, :3], found[:, :, 3], gates.chunk(4, 2)[1], flat)]
        for out, slope, i_f_g, o, f, all_gates in _ordered(views, not ctx.backwards):
            dh = out if dh is None else core.addmm(out, dh, w_hh)
            dc.addcmul_(dh, slope)
            i_f_g.mul_(wide_dc)  # the slopes become cotangents
            o.mul_(dh)
            dc.mul_(f)
            dh = all_gates
        rows, need = flat.view(-1, 4 * hidden), ctx.needs_input_grad
        return (
            (rows @ w_ih).view_as(x) if need[0] else None,
            rows.t() @ x.reshape(len(rows), -1) if need[1] else None,
            rows.t() @ _behind(y, h, ctx.backwards).view(len(rows), -1) if need[2] else None,
            rows.sum(0) if need[3] else None,
            dh @ w_hh if need[4] else None,  # type: ignore[operator]
            dc if need[5] else None,
            None,
        )


def _again(inputs: list[Any], needed: tuple[bool, ...], cotangents: tuple[Tensor, ...], backwards: bool) -> list[Tensor | None]:
    """Cotangents that have derivatives themselves: of the composed form."""
    with enable_grad():
        # Of views: an input may depend on another, or be the same tensor, and has only what reaches it directly.
        own = [None if x is None else x.view_as(x) for x in inputs]
        chosen = [x for x, n in zip(own, needed) if n]
        found = iter(grad(_composed(*own, backwards), chosen, cotangents, create_graph=True, allow_unused=True))
    return [next(found) if n else None for n in needed[: len(inputs)]]
