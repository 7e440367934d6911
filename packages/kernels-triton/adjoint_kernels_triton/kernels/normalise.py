"""Softmax and normalisations: statistics of each row, then the row again."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened
from .reduce import GRID, TILE, folded, larger, plus, rows_of, starts, tile


@triton.jit
def exponentials(x0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest element of each row, and the sum of exp(x - largest)."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    top = tl.reduce(folded(x0, n, outer, inner, n, -float("inf"), tile, larger, ROWS, BLOCK), 1, larger)
    j = tl.arange(0, BLOCK).to(tl.int64)
    total = libdevice.exp(tile(x0, start, j, n, inner, there, -float("inf")) - top[:, None])
    for _ in range(BLOCK, n, BLOCK):
        j += BLOCK
        total += libdevice.exp(tile(x0, start, j, n, inner, there, -float("inf")) - top[:, None])
    return top, tl.sum(total, 1)


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
def soften(x0, y0, n, outer, inner, SHARE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """What share of its row's sum of exponentials each element has."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    top, total = exponentials(x0, n, outer, inner, ROWS, BLOCK)
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        x = tile(x0, start, j, n, inner, there, 0.0)
        put_tile(y0, start, j, n, inner, there, SHARE(x, top[:, None], total[:, None]))


@kernel(along="dim", grid=GRID, constants=TILE)
def softmax(x0, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    soften(x0, y0, n, outer, inner, share, ROWS, BLOCK)


@kernel(along="dim", grid=GRID, constants=TILE)
def log_softmax(x0, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    soften(x0, y0, n, outer, inner, log_share, ROWS, BLOCK)


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


ONE_TILE = {**TILE, "INPUTS": "inputs"}


@kernel(along="dims", grid=GRID, constants=ONE_TILE)
def layer_norm(x0, x1, x2, y0, y1, y2, n, outer, inner, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    centre = tl.reduce(folded(x0, n, outer, inner, n, 0.0, tile, plus, ROWS, BLOCK), 1, plus) / n
    total = tl.zeros((ROWS, BLOCK), centre.dtype)
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        d = tl.where((j < n)[None, :], tile(x0, start, j, n, inner, there, 0.0) - centre[:, None], 0.0)
        total += d * d
    spread = tl.sum(total, 1) / n
    scale = 1.0 / libdevice.sqrt_rn(spread + eps.to(spread.dtype))
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        y = (tile(x0, start, j, n, inner, there, 0.0) - centre[:, None]) * scale[:, None]
        y = y * parameter(x1, j, n, 1.0, INPUTS > 1) + parameter(x2, j, n, 0.0, INPUTS > 2)
        put_tile(y0, start, j, n, inner, there, y)
    put_row(y1, centre, outer, inner, ROWS)
    put_row(y2, spread, outer, inner, ROWS)


@kernel(along="dims", grid=GRID, constants=ONE_TILE)
def rms_norm(x0, x1, y0, y1, n, outer, inner, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    x = tile(x0, start, tl.arange(0, BLOCK).to(tl.int64), n, inner, there, 0.0)
    total = x * x
    for first in range(BLOCK, n, BLOCK):
        x = tile(x0, start, first + tl.arange(0, BLOCK).to(tl.int64), n, inner, there, 0.0)
        total += x * x
    square = tl.sum(total, 1) / n
    scale = 1.0 / libdevice.sqrt_rn(square + eps.to(square.dtype))
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        y = tile(x0, start, j, n, inner, there, 0.0) * scale[:, None] * parameter(x1, j, n, 1.0, INPUTS > 1)
        put_tile(y0, start, j, n, inner, there, y)
    put_row(y1, square, outer, inner, ROWS)
