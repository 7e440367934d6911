"""Running sums, products and extremes: a program follows ROWS rows, BLOCK elements at a time, and carries the last value on."""

import triton
import triton.language as tl

from .._declare import kernel
from .reduce import GRID, TILE, plus, rows_of, starts, tile, times

SCAN = {"grid": GRID, "constants": {**TILE, "REVERSE": "reverse"}, "along": "dim"}


@triton.jit
def running(
    x0, y0, n, outer, inner, identity,
    PRODUCT: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    carried = tile(x0, start, tl.arange(0, BLOCK).to(tl.int64), 0, inner, there, identity)  # nothing yet
    if PRODUCT:
        last = tl.reduce(carried, 1, times)
    else:
        last = tl.reduce(carried, 1, plus)
    for first in range(0, n, BLOCK):
        k = first + tl.arange(0, BLOCK).to(tl.int64)
        if REVERSE:
            j = n - 1 - k
        else:
            j = k
        inside = there[:, None] & (k < n)[None, :]
        x = tl.load(x0 + start[:, None] + (j * inner)[None, :], mask=inside, other=identity).to(last.dtype)
        if PRODUCT:
            y = last[:, None] * tl.associative_scan(x, 1, times)
        else:
            y = last[:, None] + tl.associative_scan(x, 1, plus)
        tl.store(y0 + start[:, None] + (j * inner)[None, :], y.to(y0.dtype.element_ty), mask=inside)
        if PRODUCT:
            last = last * tl.reduce(x, 1, times)
        else:
            last = last + tl.reduce(x, 1, plus)


@kernel(**SCAN)
def cumsum(x0, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running(x0, y0, n, outer, inner, 0, False, REVERSE, ROWS, BLOCK)


@kernel(**SCAN)
def cumprod(x0, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running(x0, y0, n, outer, inner, 1, True, REVERSE, ROWS, BLOCK)
