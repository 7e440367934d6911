"""Hinges between the targets of a row and its other classes: a lane works on a row."""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened

CONSTANTS = {"ENDED": "ended", "BLOCK": 32}


@triton.jit
def target_of(at, i, n, m, live, there, ENDED: tl.constexpr):
    """Target i of a row, whether it counts, and whether those behind it may: none behind the first that is negative, where they are `ENDED` so."""
    c = tl.load(at + i, mask=there & (i < m), other=-1)
    if ENDED:
        live = live & (c >= 0)
    return c, live & (c >= 0) & (c < n), live


@triton.jit
def is_target(at, j, n, m, there, ENDED: tl.constexpr):
    found, live = ~there & there, there
    for i in range(0, m):
        c, counts, live = target_of(at, i, n, m, live, there, ENDED)
        found = found | (counts & (c == j))
    return found


@kernel(
    values={"n": "size(x0, -1)", "m": "size(x1, -1)", "count": "numel(y0)"}, grid="cdiv(numel(y0), BLOCK)", constants=CONSTANTS
)
def margin(x0, x1, y0, n, m, count, margin, ENDED: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < count
    x, targets = x0 + row * n, x1 + row * m
    total = widened(tl.zeros((BLOCK,), x0.dtype.element_ty))
    for j in range(0, n):
        other = there & ~is_target(targets, j, n, m, there, ENDED)
        value, live = widened(tl.load(x + j, mask=there, other=0.0)), there
        for i in range(0, m):
            c, counts, live = target_of(targets, i, n, m, live, there, ENDED)
            gap = margin - widened(tl.load(x + c, mask=counts & other, other=0.0)) + value
            total += tl.where(counts & other & ~(gap < 0), gap, 0.0)
    tl.store(y0 + row, (total / n).to(y0.dtype.element_ty), mask=there)


@kernel(
    values={"n": "size(x1, -1)", "m": "size(x2, -1)", "count": "numel(x0)"}, grid="cdiv(numel(x0), BLOCK)",
    constants=CONSTANTS, wide=True,
)  # fmt: skip
def margin_vjp(x0, x1, x2, y0, n, m, count, margin, ENDED: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < count
    x, targets, y = x1 + row * n, x2 + row * m, y0 + row * n
    share = widened(tl.load(x0 + row, mask=there, other=0.0)) / n
    for j in range(0, n):
        tl.store(y + j, share * 0, mask=there)
    for j in range(0, n):
        other = there & ~is_target(targets, j, n, m, there, ENDED)
        value, live = widened(tl.load(x + j, mask=there, other=0.0)), there
        own = share * 0
        for i in range(0, m):
            c, counts, live = target_of(targets, i, n, m, live, there, ENDED)
            gap = margin - widened(tl.load(x + c, mask=counts & other, other=0.0)) + value
            open = counts & other & (gap > 0)
            own += tl.where(open, share, 0.0)
            tl.store(y + c, tl.load(y + c, mask=open, other=0.0) - share, mask=open)
        tl.store(y + j, tl.load(y + j, mask=other, other=0.0) + own, mask=other)
