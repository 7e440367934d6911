"""Extremes with their positions: NaN counts as the extreme, and the first of equal elements wins (in running extremes, the last)."""

import triton
import triton.language as tl

from .._structured import kernel
from .reduce import GRID, TILE, rows_of, starts, tile


@triton.jit
def better_largest(a, i, b, j):
    """Whether b at j comes before a at i."""
    nan_a = a != a
    nan_b = b != b
    above = (nan_b & (nan_a == 0)) | ((nan_a == 0) & (b > a))
    equal = (nan_a & nan_b) | (a == b)
    return above | (equal & (j < i))


@triton.jit
def better_smallest(a, i, b, j):
    nan_a = a != a
    nan_b = b != b
    below = (nan_b & (nan_a == 0)) | ((nan_a == 0) & (b < a))
    equal = (nan_a & nan_b) | (a == b)
    return below | (equal & (j < i))


@triton.jit
def pick_largest(a, i, b, j):
    take = better_largest(a, i, b, j)
    return tl.where(take, b, a), tl.where(take, j, i)


@triton.jit
def pick_smallest(a, i, b, j):
    take = better_smallest(a, i, b, j)
    return tl.where(take, b, a), tl.where(take, j, i)


@triton.jit
def pick_last_largest(a, i, b, j):
    """The last of equal elements, or of NaN."""
    take = (b != b) | ((a == a) & (b >= a))
    take = tl.where((a != a) & (b != b) | (a == b), j > i, take)
    return tl.where(take, b, a), tl.where(take, j, i)


@triton.jit
def pick_last_smallest(a, i, b, j):
    take = (b != b) | ((a == a) & (b <= a))
    take = tl.where((a != a) & (b != b) | (a == b), j > i, take)
    return tl.where(take, b, a), tl.where(take, j, i)


@triton.jit
def picked(x0, n, outer, inner, PICK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The value and the position of each row's extreme. Lanes beyond the end repeat the first element."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    j = tl.arange(0, BLOCK).to(tl.int64)
    at = tl.where(j < n, j, 0)
    value = tile(x0, start, at, n, inner, there, 0)
    index = tl.broadcast_to(at[None, :], (ROWS, BLOCK))
    for _ in range(BLOCK, n, BLOCK):
        j += BLOCK
        at = tl.where(j < n, j, 0)
        value, index = PICK(value, index, tile(x0, start, at, n, inner, there, 0), tl.broadcast_to(at[None, :], (ROWS, BLOCK)))
    return value, index


@triton.jit
def extreme(x0, n, outer, inner, LARGEST: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    if LARGEST:
        value, index = tl.reduce(picked(x0, n, outer, inner, pick_largest, ROWS, BLOCK), 1, pick_largest)
    else:
        value, index = tl.reduce(picked(x0, n, outer, inner, pick_smallest, ROWS, BLOCK), 1, pick_smallest)
    return value, index


@triton.jit
def put(y0, x, outer, inner, ROWS: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    tl.store(y0 + row, x.to(y0.dtype.element_ty), mask=there)


@kernel(along="dim", grid=GRID, constants=TILE)
def max(x0, y0, y1, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    value, index = extreme(x0, n, outer, inner, True, ROWS, BLOCK)
    put(y0, value, outer, inner, ROWS)
    put(y1, index, outer, inner, ROWS)


@kernel(along="dim", grid=GRID, constants=TILE)
def min(x0, y0, y1, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    value, index = extreme(x0, n, outer, inner, False, ROWS, BLOCK)
    put(y0, value, outer, inner, ROWS)
    put(y1, index, outer, inner, ROWS)


@kernel(along="dim", grid=GRID, constants=TILE)
def argmax(x0, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, extreme(x0, n, outer, inner, True, ROWS, BLOCK)[1], outer, inner, ROWS)


@kernel(along="dim", grid=GRID, constants=TILE)
def argmin(x0, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, extreme(x0, n, outer, inner, False, ROWS, BLOCK)[1], outer, inner, ROWS)
