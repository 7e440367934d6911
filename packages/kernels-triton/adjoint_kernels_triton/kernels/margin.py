"""Hinges between the targets of a row and its other classes: a program works on some rows, on a block of classes at a time."""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened


def layout(x):
    """Grid, values and constants, of operand `x`."""
    classes = f"size({x}, -1)"
    return {
        "grid": f"cdiv(numel({x}) // {classes}, ROWS)",
        "constants": {
            "ENDED": "ended",
            "ROWS": f"max(1, 512 // min(next_pow2({classes}), 512))",
            "BLOCK": f"min(next_pow2({classes}), 512)",
        },
    }


@triton.jit
def target_of(at, i, n, m, live, there, ENDED: tl.constexpr):
    """Target i of each row, whether it counts, and whether those behind it may: none behind the first that is negative, where they are `ENDED` so."""
    c = tl.load(at + i, mask=there & (i < m), other=-1)
    if ENDED:
        live = live & (c >= 0)
    return c, live & (c >= 0) & (c < n), live


@triton.jit
def others_of(at, j, inside, n, m, there, ENDED: tl.constexpr):
    """Which of the classes j of each row are no targets."""
    found, live = ~inside, there
    for i in range(0, m):
        c, counts, live = target_of(at, i, n, m, live, there, ENDED)
        found = found | (counts[:, None] & (c[:, None] == j[None, :]))
    return ~found


@kernel(values={"n": "size(x0, -1)", "m": "size(x1, -1)", "count": "numel(y0)"}, **layout("x0"))
def margin(x0, x1, y0, n, m, count, margin, ENDED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    there = row < count
    x, targets = x0 + row * n, x1 + row * m
    total = widened(tl.zeros((ROWS,), x0.dtype.element_ty))
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK)
        inside = there[:, None] & (j < n)[None, :]
        value = widened(tl.load(x[:, None] + j[None, :], mask=inside, other=0.0))
        other, live = others_of(targets, j, inside, n, m, there, ENDED), there
        for i in range(0, m):
            c, counts, live = target_of(targets, i, n, m, live, there, ENDED)
            gap = margin - widened(tl.load(x + c, mask=counts, other=0.0))[:, None] + value
            total += tl.sum(tl.where(counts[:, None] & other & ~(gap < 0), gap, 0.0), 1)
    tl.store(y0 + row, (total / n).to(y0.dtype.element_ty), mask=there)


@kernel(values={"n": "size(x1, -1)", "m": "size(x2, -1)", "count": "numel(x0)"}, wide=True, **layout("x1"))
def margin_vjp(x0, x1, x2, y0, n, m, count, margin, ENDED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Other classes are written by block; from those of targets, all 0 at first, each block takes its share."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    there = row < count
    x, targets, y = x1 + row * n, x2 + row * m, y0 + row * n
    share = widened(tl.load(x0 + row, mask=there, other=0.0)) / n
    live = there
    for i in range(0, m):
        c, counts, live = target_of(targets, i, n, m, live, there, ENDED)
        tl.store(y + c, share * 0, mask=counts)
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK)
        inside = there[:, None] & (j < n)[None, :]
        value = widened(tl.load(x[:, None] + j[None, :], mask=inside, other=0.0))
        other, live = others_of(targets, j, inside, n, m, there, ENDED), there
        times = tl.zeros((ROWS, BLOCK), tl.int32)
        for i in range(0, m):
            c, counts, live = target_of(targets, i, n, m, live, there, ENDED)
            gap = margin - widened(tl.load(x + c, mask=counts, other=0.0))[:, None] + value
            open = (counts[:, None] & other & (gap > 0)).to(tl.int32)
            times += open
            taken = share * tl.sum(open, 1)
            tl.debug_barrier()  # several threads may hold a row, of which one writes
            before = tl.load(y + c, mask=counts, other=0.0)
            tl.debug_barrier()
            tl.store(y + c, before - taken, mask=counts)
        tl.store(y[:, None] + j[None, :], share[:, None] * times, mask=other)
