"""Softmax and normalisations: statistics of each row, then the row again, which a program holds unless it is long. Softmax of few,
long rows goes in pieces: the exponentials of each are summed up, these sums joined, and then each piece is written.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel, sequence, step
from .._templates import widened
from .moments import moments
from .pieces import BLOCK, COUNT, JOINED, PIECES, room
from .reduce import GRID, TILE, larger, piece_of, put, rows_of, starts, tile

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
def more(top, total, count, x):
    """Largest elements so far and the sum of exp(x - largest), and another element, `count` times."""
    high = larger(top, x)
    shift = tl.where(high == -float("inf"), 0.0, high)
    return high, total * libdevice.exp(top - shift) + count * libdevice.exp(x - shift)


@triton.jit
def largest_and_sum(tops, total):
    """Of what each lane came to; where all elements are -inf, that is nothing, and its logarithm -inf."""
    top = tl.reduce(tops, 1, larger)
    shift = tl.where(top == -float("inf"), 0.0, top)
    return top, tl.sum(total * libdevice.exp(tops - shift[:, None]), 1)


@triton.jit
def exponentials(x0, n, outer, inner, chunk, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest element of this program's chunk of each row, and the sum of exp(x - largest)."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    begin, end = piece_of(n, chunk)
    j = begin + tl.arange(0, BLOCK)
    x = tile(x0, start, j, end, inner, there, -float("inf"))
    if WHOLE:
        top = tl.reduce(x, 1, larger)
        return top, tl.sum(libdevice.exp(x - top[:, None]), 1)
    else:
        tops = x
        total = tl.where(x == -float("inf"), 0.0, 1.0).to(x.dtype)
        for _ in range(begin + BLOCK, end, BLOCK):
            j += BLOCK
            tops, total = more(tops, total, 1.0, tile(x0, start, j, end, inner, there, -float("inf")))
        return largest_and_sum(tops, total)


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
    x0, y0, joint, n, outer, inner, chunk,
    SHARE: tl.constexpr, JOINT: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """What share of its row's sum of exponentials each element has; JOINT: of pieces, whose sums are joined."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    if WHOLE:
        j = tl.arange(0, BLOCK).to(tl.int64)
        x = tile(x0, start, j, n, inner, there, -float("inf"))
        top = tl.reduce(x, 1, larger)[:, None]
        total = tl.sum(libdevice.exp(x - top), 1)[:, None]
        put_tile(y0, start, j, n, inner, there, SHARE(x, top, total))
    else:
        if JOINT:
            top = tl.load(joint + row, mask=there, other=0.0)
            total = tl.load(joint + outer * inner + row, mask=there, other=1.0)
        else:
            top, total = exponentials(x0, n, outer, inner, n, False, ROWS, BLOCK)
        begin, end = piece_of(n, chunk)
        for first in range(begin, end, BLOCK):
            j = first + tl.arange(0, BLOCK)
            x = tile(x0, start, j, end, inner, there, 0.0)
            put_tile(y0, start, j, end, inner, there, SHARE(x, top[:, None], total[:, None]))


@step(grid=(GRID, COUNT), constants=TILE, values=PIECES, when=f"1 < {COUNT}")
def exponentials_of_piece(x0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    top, total = exponentials(x0, n, outer, inner, chunk, False, ROWS, BLOCK)
    put(piece, top, outer, inner, ROWS)
    put(piece + pieces * outer * inner, total, outer, inner, ROWS)


@step(**JOINED)
def joined_exponentials(piece, joint, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(1, rows, ROWS)
    j = tl.arange(0, BLOCK).to(tl.int64)
    tops = tile(piece, row, j, pieces, rows, there, -float("inf"))
    total = tile(piece + pieces * rows, row, j, pieces, rows, there, 0.0)
    for _ in range(BLOCK, pieces, BLOCK):
        j += BLOCK
        count = tile(piece + pieces * rows, row, j, pieces, rows, there, 0.0)
        tops, total = more(tops, total, count, tile(piece, row, j, pieces, rows, there, -float("inf")))
    top, total = largest_and_sum(tops, total)
    put_row(joint, top, 1, rows, ROWS)
    put_row(joint + rows, total, 1, rows, ROWS)


IN_PIECES = {
    **WHOLE_ROWS,
    "grid": (GRID, COUNT),
    "constants": {**HELD, "JOINT": f"1 < {COUNT}"},
    "values": {"chunk": PIECES["chunk"]},
}


@step(**IN_PIECES)
def softmax(
    x0, y0, joint, n, outer, inner, chunk,
    JOINT: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    soften(x0, y0, joint, n, outer, inner, chunk, share, JOINT, WHOLE, ROWS, BLOCK)


@step(**IN_PIECES)
def log_softmax(
    x0, y0, joint, n, outer, inner, chunk,
    JOINT: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    soften(x0, y0, joint, n, outer, inner, chunk, log_share, JOINT, WHOLE, ROWS, BLOCK)


EXPONENTIALS = {
    "piece": ("widened(x0)", room(2)),
    "joint": ("widened(x0)", f"2 * outer * inner if 1 < {COUNT} else 0"),
}
sequence("softmax", along="dim", steps=[exponentials_of_piece, joined_exponentials, softmax], workspace=EXPONENTIALS)
sequence("log_softmax", along="dim", steps=[exponentials_of_piece, joined_exponentials, log_softmax], workspace=EXPONENTIALS)


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
