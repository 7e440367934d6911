"""Extremes with their positions: NaN counts as the extreme, and the first of equal elements wins (in running extremes, the last)."""

import triton
import triton.language as tl

from .._structured import Step, sequence, step
from .pieces import COUNT, JOINED, PIECES, room
from .reduce import GRID, TILE, piece_of, put, rows_of, starts, tile


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
def picked(x0, n, outer, inner, chunk, PICK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The value and the position of the extreme of this program's chunk of each row. Lanes beyond the end repeat the first element."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    first, end = piece_of(n, chunk)
    j = first + tl.arange(0, BLOCK)
    at = tl.where(j < end, j, first)
    value = tile(x0, start, at, n, inner, there, 0)
    index = tl.broadcast_to(at[None, :], (ROWS, BLOCK))
    for _ in range(first + BLOCK, end, BLOCK):
        j += BLOCK
        at = tl.where(j < end, j, first)
        value, index = PICK(value, index, tile(x0, start, at, n, inner, there, 0), tl.broadcast_to(at[None, :], (ROWS, BLOCK)))
    return value, index


@triton.jit
def picked_again(values, positions, rows, pieces, PICK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The same, of what the pieces came to."""
    row, there = rows_of(1, rows, ROWS)
    j = tl.arange(0, BLOCK).to(tl.int64)
    at = tl.where(j < pieces, j, 0)
    value, index = tile(values, row, at, pieces, rows, there, 0), tile(positions, row, at, pieces, rows, there, 0)
    for _ in range(BLOCK, pieces, BLOCK):
        j += BLOCK
        at = tl.where(j < pieces, j, 0)
        later = tile(positions, row, at, pieces, rows, there, 0)
        value, index = PICK(value, index, tile(values, row, at, pieces, rows, there, 0), later)
    return value, index


def extreme(
    x0, found, place, values, positions, n, outer, inner, chunk, pieces,
    LARGEST: tl.constexpr, BOTH: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of a whole row, or of each of its pieces. BOTH: the value is wanted beside its position."""
    if LARGEST:
        value, index = tl.reduce(picked(x0, n, outer, inner, chunk, pick_largest, ROWS, BLOCK), 1, pick_largest)
    else:
        value, index = tl.reduce(picked(x0, n, outer, inner, chunk, pick_smallest, ROWS, BLOCK), 1, pick_smallest)
    if pieces > 1:
        put(values, value, outer, inner, ROWS)
        put(positions, index, outer, inner, ROWS)
    else:
        put(place, index, outer, inner, ROWS)
        if BOTH:
            put(found, value, outer, inner, ROWS)


def extreme_of_pieces(
    found, place, values, positions, rows, pieces,
    LARGEST: tl.constexpr, BOTH: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    if LARGEST:
        value, index = tl.reduce(picked_again(values, positions, rows, pieces, pick_largest, ROWS, BLOCK), 1, pick_largest)
    else:
        value, index = tl.reduce(picked_again(values, positions, rows, pieces, pick_smallest, ROWS, BLOCK), 1, pick_smallest)
    put(place, index, 1, rows, ROWS)
    if BOTH:
        put(found, value, 1, rows, ROWS)


def steps(largest: int, both: int) -> list[Step]:
    kind = {"LARGEST": largest, "BOTH": both}
    return [
        step(grid=(GRID, COUNT), constants={**TILE, **kind}, values=PIECES)(extreme),
        step(**{**JOINED, "constants": {**JOINED["constants"], **kind}})(extreme_of_pieces),
    ]


BOTH = {"where": {"found": "y0", "place": "y1"}, "workspace": {"values": ("x0", room()), "positions": ("int64", room())}}
PLACE = {**BOTH, "where": {"found": "y0", "place": "y0"}}

sequence("max", along="dim", steps=steps(1, 1), **BOTH)
sequence("min", along="dim", steps=steps(0, 1), **BOTH)
sequence("argmax", along="dim", steps=steps(1, 0), **PLACE)
sequence("argmin", along="dim", steps=steps(0, 0), **PLACE)
