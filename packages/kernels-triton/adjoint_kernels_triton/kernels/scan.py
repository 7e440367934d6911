"""Running sums, products, extremes and recurrences: a program follows ROWS rows, BLOCK elements at a time, and carries the last
value on. Sums and products of few, long rows go in pieces: their totals, the running totals, and then each piece from the total before it.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import Step, kernel, sequence, step
from .._templates import widened
from .pick import pick_last_largest, pick_last_smallest
from .pieces import CHUNK, COUNT, JOINED, room
from .reduce import GRID, TILE, larger, piece_of, plus, put, rows_of, starts, tile, times

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
def nothing(x0, n, outer, inner, identity, PRODUCT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """What each row starts with, in the type that is computed with."""
    row, there = rows_of(outer, inner, ROWS)
    none = tile(x0, starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64), 0, inner, there, identity)
    if PRODUCT:
        return tl.reduce(none, 1, times)
    else:
        return tl.reduce(none, 1, plus)


def total_of_piece(
    x0, totals, n, outer, inner, chunk, identity,
    PRODUCT: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    total = nothing(x0, n, outer, inner, identity, PRODUCT, ROWS, BLOCK)
    begin, end = piece_of(n, chunk)
    for first in range(begin, end, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        x = tl.load(x0 + at, mask=inside & (first + tl.arange(0, BLOCK) < end)[None, :], other=identity).to(total.dtype)
        if PRODUCT:
            total = total * tl.reduce(x, 1, times)
        else:
            total = total + tl.reduce(x, 1, plus)
    put(totals, total, outer, inner, ROWS)


def running_totals(totals, rows, pieces, identity, PRODUCT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(1, rows, ROWS)
    total = nothing(totals, pieces, 1, rows, identity, PRODUCT, ROWS, BLOCK)
    for first in range(0, pieces, BLOCK):
        at, inside = along_lines(first, pieces, 1, rows, False, ROWS, BLOCK)
        x = tl.load(totals + at, mask=inside, other=identity)
        if PRODUCT:
            y = total[:, None] * tl.associative_scan(x, 1, times)
            total = total * tl.reduce(x, 1, times)
        else:
            y = total[:, None] + tl.associative_scan(x, 1, plus)
            total = total + tl.reduce(x, 1, plus)
        tl.store(totals + at, y.to(totals.dtype.element_ty), mask=inside)


@triton.jit
def running(
    x0, y0, totals, n, outer, inner, chunk, pieces, identity,
    PRODUCT: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    last = nothing(x0, n, outer, inner, identity, PRODUCT, ROWS, BLOCK)
    if pieces > 1:
        row, there = rows_of(outer, inner, ROWS)
        before = tl.program_id(1).to(tl.int64) - 1
        last = tl.load(totals + before * outer * inner + row, mask=there & (before >= 0), other=identity).to(last.dtype)
    begin, end = piece_of(n, chunk)
    for first in range(begin, end, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        inside &= (first + tl.arange(0, BLOCK) < end)[None, :]
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


# Complex numbers, whose products are not these, go in one piece.
PIECES = {"chunk": f"{CHUNK} if parts(x0) == 1 else n", "pieces": f"{COUNT} if parts(x0) == 1 else 1"}
IN_PIECES = f"(1 < {COUNT}) * (2 - parts(x0))"
SCANNED = {"grid": (GRID, PIECES["pieces"]), "constants": SCAN["constants"], "values": PIECES}


@step(**SCANNED)
def cumsum(x0, y0, totals, n, outer, inner, chunk, pieces, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running(x0, y0, totals, n, outer, inner, chunk, pieces, 0, False, REVERSE, ROWS, BLOCK)


@step(**SCANNED)
def cumprod(x0, y0, totals, n, outer, inner, chunk, pieces, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    running(x0, y0, totals, n, outer, inner, chunk, pieces, 1, True, REVERSE, ROWS, BLOCK)


def in_pieces(last: Step, product: int) -> list[Step]:
    """The totals before it, where there are several pieces."""
    how, kind = {"when": IN_PIECES}, {"PRODUCT": product}
    values = {"chunk": CHUNK, "identity": str(product)}
    columns = {**JOINED, "constants": {**JOINED["constants"], **kind}, **how}
    return [
        step(grid=(GRID, COUNT), constants={**SCAN["constants"], **kind}, values=values, **how)(total_of_piece),
        step(**{**columns, "values": {**JOINED["values"], "identity": str(product)}})(running_totals),
        last,
    ]


TOTALS = {"totals": ("widened(y0)", room())}
sequence("cumsum", along="dim", linear=True, steps=in_pieces(cumsum, 0), workspace=TOTALS)
sequence("cumprod", along="dim", steps=in_pieces(cumprod, 1), workspace=TOTALS)


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
