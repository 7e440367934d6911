"""Softmax and normalisations: statistics of each row, then the row again, which a program holds unless it is long."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened
from .moments import moments
from .pieces import BLOCK
from .reduce import GRID, TILE, larger, rows_of, starts, tile

# A program holds its rows, and reads them once, where they have up to 8192 elements: that is WHOLE. Of longer ones, a block at a time.
HELD = {
    "ROWS": TILE["ROWS"],
    "BLOCK": f"next_pow2(n) if n < 8192 // ROWS + 1 else (4096 if inner == 1 else {BLOCK})",
    "WHOLE": "n < BLOCK + 1",
}


def warps(rows: int, block: int, *others: int) -> int:
    """So that a thread holds 16 elements of a large tile."""
    return max(4, min(16, rows * block // 512))


WHOLE_ROWS = {"grid": GRID, "constants": HELD, "warps": warps}
WITH_INPUTS = {**WHOLE_ROWS, "constants": {**HELD, "INPUTS": "inputs"}}


@triton.jit
def more(top, total, x):
    """Largest elements so far and the sum of exp(x - largest), and another element."""
    high = larger(top, x)
    shift = tl.where(high == -float("inf"), 0.0, high)
    return high, total * libdevice.exp(top - shift) + libdevice.exp(x - shift)


@triton.jit
def exponentials(x0, n, outer, inner, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest element of each row, and the sum of exp(x - largest)."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    j = tl.arange(0, BLOCK).to(tl.int64)
    x = tile(x0, start, j, n, inner, there, -float("inf"))
    if WHOLE:
        top = tl.reduce(x, 1, larger)
        return top, tl.sum(libdevice.exp(x - top[:, None]), 1)
    else:
        tops = x
        total = tl.where(x == -float("inf"), 0.0, 1.0).to(x.dtype)
        for _ in range(BLOCK, n, BLOCK):
            j += BLOCK
            tops, total = more(tops, total, tile(x0, start, j, n, inner, there, -float("inf")))
        top = tl.reduce(tops, 1, larger)
        return top, tl.sum(total * libdevice.exp(tops - top[:, None]), 1)


@triton.jit
def put_tile(y0, start, j, n, inner, there, y):
    mask = there[:, None] & (j < n)[None, :]
    tl.store(y0 + start[:, None] + (j * inner)[None, :], y.to(y0.dtype.element_ty), mask=mask)


@triton.jit
def share(x, top, total):
    return libdevice.exp(x - top) / total


@triton.jit
def log_share(x, top, total):
    return x - top - libdevice.log(total)


@triton.jit
def soften(
    x0, y0, n, outer, inner,
    SHARE: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """What share of its row's sum of exponentials each element has."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    if WHOLE:
        j = tl.arange(0, BLOCK).to(tl.int64)
        x = tile(x0, start, j, n, inner, there, -float("inf"))
        top = tl.reduce(x, 1, larger)[:, None]
        total = tl.sum(libdevice.exp(x - top), 1)[:, None]
        put_tile(y0, start, j, n, inner, there, SHARE(x, top, total))
    else:
        top, total = exponentials(x0, n, outer, inner, False, ROWS, BLOCK)
        for first in range(0, n, BLOCK):
            j = first + tl.arange(0, BLOCK).to(tl.int64)
            x = tile(x0, start, j, n, inner, there, 0.0)
            put_tile(y0, start, j, n, inner, there, SHARE(x, top[:, None], total[:, None]))


@kernel(along="dim", **WHOLE_ROWS)
def softmax(x0, y0, n, outer, inner, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    soften(x0, y0, n, outer, inner, share, WHOLE, ROWS, BLOCK)


@kernel(along="dim", **WHOLE_ROWS)
def log_softmax(x0, y0, n, outer, inner, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    soften(x0, y0, n, outer, inner, log_share, WHOLE, ROWS, BLOCK)


@triton.jit
def put_row(y0, y, outer, inner, ROWS: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    tl.store(y0 + row, y.to(y0.dtype.element_ty), mask=there)


@triton.jit
def parameter(x, j, n, identity, PRESENT: tl.constexpr):
    if PRESENT:
        return widened(tl.load(x + j, mask=j < n, other=identity))[None, :]
    else:
        return identity


@triton.jit
def weighted(z, x1, x2, j, n, INPUTS: tl.constexpr):
    return z * parameter(x1, j, n, 1.0, INPUTS > 1) + parameter(x2, j, n, 0.0, INPUTS > 2)


@kernel(along="dims", **WITH_INPUTS)
def layer_norm(
    x0, x1, x2, y0, y1, y2, n, outer, inner, eps,
    WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    if WHOLE:
        j = tl.arange(0, BLOCK).to(tl.int64)
        x = tile(x0, start, j, n, inner, there, 0.0)
        centre = tl.sum(x, 1) / n
        d = tl.where((j < n)[None, :], x - centre[:, None], 0.0)
        spread = tl.sum(d * d, 1) / n
        scale = 1.0 / libdevice.sqrt_rn(spread + eps.to(spread.dtype))
        put_tile(y0, start, j, n, inner, there, weighted(d * scale[:, None], x1, x2, j, n, INPUTS))
    else:
        near, above, squares = moments(x0, n, outer, inner, n, tile, ROWS, BLOCK)
        centre, spread = near + above, squares / n
        scale = 1.0 / libdevice.sqrt_rn(spread + eps.to(spread.dtype))
        for first in range(0, n, BLOCK):
            j = first + tl.arange(0, BLOCK).to(tl.int64)
            z = (tile(x0, start, j, n, inner, there, 0.0) - centre[:, None]) * scale[:, None]
            put_tile(y0, start, j, n, inner, there, weighted(z, x1, x2, j, n, INPUTS))
    put_row(y1, centre, outer, inner, ROWS)
    put_row(y2, spread, outer, inner, ROWS)


@kernel(along="dims", **WITH_INPUTS)
def rms_norm(
    x0, x1, y0, y1, n, outer, inner, eps,
    WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    j = tl.arange(0, BLOCK).to(tl.int64)
    end = BLOCK if WHOLE else n
    x = tile(x0, start, j, n, inner, there, 0.0)
    total = x * x
    for first in range(BLOCK, end, BLOCK):
        beside = tile(x0, start, first + j, n, inner, there, 0.0)
        total += beside * beside
    square = tl.sum(total, 1) / n
    scale = (1.0 / libdevice.sqrt_rn(square + eps.to(square.dtype)))[:, None]
    put_tile(y0, start, j, n, inner, there, x * scale * parameter(x1, j, n, 1.0, INPUTS > 1))
    for first in range(BLOCK, end, BLOCK):
        y = tile(x0, start, first + j, n, inner, there, 0.0) * scale * parameter(x1, first + j, n, 1.0, INPUTS > 1)
        put_tile(y0, start, first + j, n, inner, there, y)
    put_row(y1, square, outer, inner, ROWS)
