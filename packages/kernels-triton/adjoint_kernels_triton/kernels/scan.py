"""Running sums, products, extremes and recurrences: a program follows ROWS rows, BLOCK elements at a time, and carries the last
value on."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened
from .pick import pick_last_largest, pick_last_smallest
from .reduce import GRID, TILE, larger, plus, rows_of, starts, tile, times

FORWARD = {"grid": GRID, "constants": TILE, "along": "dim"}
SCAN = {"grid": GRID, "constants": {**TILE, "REVERSE": "reverse"}, "along": "dim"}


@triton.jit
def along_lines(first, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Where the next elements of the rows lie, in the direction of the scan, and which of them there are."""
    row, there = rows_of(outer, inner, ROWS)
    k = first + tl.arange(0, BLOCK).to(tl.int64)
    if REVERSE:
        j = n - 1 - k
    else:
        j = k
    return starts(row, n, inner)[:, None] + (j * inner)[None, :], there[:, None] & (k < n)[None, :]


@triton.jit
def last_of(y, BLOCK: tl.constexpr):
    """The last element of each row of a block."""
    return tl.sum(tl.where((tl.arange(0, BLOCK) == BLOCK - 1)[None, :], y, tl.zeros_like(y)), 1).to(y.dtype)


@triton.jit
def running(
    x0, y0, n, outer, inner, identity,
    PRODUCT: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, inner, ROWS)
    carried = tile(x0, starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64), 0, inner, there, identity)  # nothing yet
    if PRODUCT:
        last = tl.reduce(carried, 1, times)
    else:
        last = tl.reduce(carried, 1, plus)
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        x = tl.load(x0 + at, mask=inside, other=identity).to(last.dtype)
        if PRODUCT:
            y = last[:, None] * tl.associative_scan(x, 1, times)
        else:
            y = last[:, None] + tl.associative_scan(x, 1, plus)
        tl.store(y0 + at, y.to(y0.dtype.element_ty), mask=inside)
        if PRODUCT:
            last = last * tl.reduce(x, 1, times)
        else:
            last = last + tl.reduce(x, 1, plus)


@kernel(linear=True, **SCAN)
def cumsum(x0, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running(x0, y0, n, outer, inner, 0, False, REVERSE, ROWS, BLOCK)


@kernel(**SCAN)
def cumprod(x0, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running(x0, y0, n, outer, inner, 1, True, REVERSE, ROWS, BLOCK)


@triton.jit
def log_plus(a, s, b, t):
    """The sum of s e^a and t e^b, as a multiple of the larger power."""
    top = larger(a, b)
    s = tl.where(a == top, s, s * libdevice.exp(a - top))
    t = tl.where(b == top, t, t * libdevice.exp(b - top))
    return top, s + t


@kernel(**SCAN)
def logcumsumexp(x0, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    nothing = tile(x0, starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64), 0, inner, there, -float("inf"))
    top = tl.reduce(nothing, 1, larger)
    scaled = tl.zeros_like(top)
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        x = widened(tl.load(x0 + at, mask=inside, other=-float("inf")))
        one = tl.where(inside, 1.0, 0.0).to(x.dtype)
        a, s = tl.associative_scan((x, one), 1, log_plus)
        a, s = log_plus(tl.broadcast_to(top[:, None], (ROWS, BLOCK)), tl.broadcast_to(scaled[:, None], (ROWS, BLOCK)), a, s)
        tl.store(y0 + at, (a + libdevice.log(s)).to(y0.dtype.element_ty), mask=inside)
        top, scaled = last_of(a, BLOCK), last_of(s, BLOCK)


@triton.jit
def step_after(a, x, b, y):
    """One step of a recurrence, a v + x, and then another one, b v + y."""
    return a * b, b * x + y


@kernel(matching=True, **SCAN)
def linear_recurrence(x0, x1, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    last = tl.zeros((ROWS,), tl.float64 if y0.dtype.element_ty == tl.float64 else tl.float32)
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        factor = tl.load(x0 + at, mask=inside, other=1.0).to(last.dtype)
        factor = tl.where((first + tl.arange(0, BLOCK) > 0)[None, :], factor, 0.0)  # nothing stands before the first
        a, y = tl.associative_scan((factor, tl.load(x1 + at, mask=inside, other=0.0).to(last.dtype)), 1, step_after)
        y += a * last[:, None]
        tl.store(y0 + at, y.to(y0.dtype.element_ty), mask=inside)
        last = last_of(y, BLOCK)


@triton.jit
def running_extreme(x0, y0, y1, n, outer, inner, LARGEST: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    value = widened(tl.load(x0 + starts(row, n, inner), mask=there, other=0))  # the first
    index = row * 0
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, False, ROWS, BLOCK)
        x = widened(tl.load(x0 + at, mask=inside, other=0))
        j = tl.broadcast_to((first + tl.arange(0, BLOCK).to(tl.int64))[None, :], (ROWS, BLOCK))
        before, i = tl.broadcast_to(value[:, None], (ROWS, BLOCK)), tl.broadcast_to(index[:, None], (ROWS, BLOCK))
        if LARGEST:
            x, j = tl.associative_scan((x, j), 1, pick_last_largest)
            x, j = pick_last_largest(before, i, x, j)
        else:
            x, j = tl.associative_scan((x, j), 1, pick_last_smallest)
            x, j = pick_last_smallest(before, i, x, j)
        tl.store(y0 + at, x.to(y0.dtype.element_ty), mask=inside)
        tl.store(y1 + at, j, mask=inside)
        value, index = last_of(x, BLOCK), last_of(j, BLOCK)


@kernel(**FORWARD)
def cummax(x0, y0, y1, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running_extreme(x0, y0, y1, n, outer, inner, True, ROWS, BLOCK)


@kernel(**FORWARD)
def cummin(x0, y0, y1, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running_extreme(x0, y0, y1, n, outer, inner, False, ROWS, BLOCK)
