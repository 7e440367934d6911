"""Reductions of more than one sum: variances, norms, and logarithms of sums of exponentials."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import Step, sequence, step
from .pieces import JOINED, PIECES, room
from .reduce import PIECE, TILE, WHOLE, folded, larger, piece_of, put, put_piece, rows_of, smaller, starts, tile

# ---- logsumexp: that of all pieces is that of the pieces' own


@triton.jit
def log_of_sum(x0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    top = tl.reduce(folded(x0, n, outer, inner, chunk, -float("inf"), tile, larger, ROWS, BLOCK), 1, larger)
    shift = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    first, end = piece_of(n, chunk)
    total = tl.zeros((ROWS, BLOCK), top.dtype)
    for block in range(first, end, BLOCK):
        j = block + tl.arange(0, BLOCK)
        total += libdevice.exp(tile(x0, start, j, end, inner, there, -float("inf")) - shift[:, None])
    return shift + libdevice.log(tl.sum(total, 1))


@step(**WHOLE)
def logsumexp(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put_piece(y0, piece, log_of_sum(x0, n, outer, inner, chunk, ROWS, BLOCK), outer, inner, pieces, ROWS)


@step(**JOINED)
def logsumexp_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, log_of_sum(piece, pieces, 1, rows, pieces, ROWS, BLOCK), 1, rows, ROWS)


sequence("logsumexp", along="dims", steps=[logsumexp, logsumexp_of_pieces], workspace=PIECE)


# ---- variances


@triton.jit
def moments(x0, n, outer, inner, chunk, LOAD: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Of this program's chunk of each row: a number near its mean, by how much the mean is larger, and the sum of squared differences
    from the mean.

    The number is the mean of the first block. If a share f of the elements is there, the variance is at least f times the square of that
    difference, so that what the subtraction loses is at most a factor 1 / f, whatever the elements are.
    """
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    first, end = piece_of(n, chunk)
    j = first + tl.arange(0, BLOCK)
    x = LOAD(x0, start, j, end, inner, there, 0.0)
    near = tl.sum(x, 1) / tl.minimum(end - first, BLOCK)
    d = tl.where((j < end)[None, :], x - near[:, None], 0.0)
    total = d
    squares = d * d
    for _ in range(first + BLOCK, end, BLOCK):
        j += BLOCK
        d = tl.where((j < end)[None, :], LOAD(x0, start, j, end, inner, there, 0.0) - near[:, None], 0.0)
        total += d
        squares += d * d
    above = tl.sum(total, 1) / (end - first)
    return near, above, less_squares(tl.sum(squares, 1), above * above * (end - first))


@triton.jit
def less_squares(a, b):
    """What rounding makes less than nothing is nothing."""
    return tl.where(a < b, 0.0, a - b)


@triton.jit
def deviation(squares, n, correction, ROOT: tl.constexpr):
    """The variance, or its root."""
    free = n - correction
    variance = squares / tl.where(free > 0, free, 0.0).to(squares.dtype)
    if ROOT:
        return libdevice.sqrt_rn(variance)
    else:
        return variance


@triton.jit
def put_moments(found, near, above, squares, outer, inner, pieces, ROWS: tl.constexpr):
    put(found, near, outer, inner, ROWS)
    put(found + pieces * outer * inner, above, outer, inner, ROWS)
    put(found + 2 * pieces * outer * inner, squares, outer, inner, ROWS)


@triton.jit
def joined_moments(found, rows, pieces, n, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The mean of all pieces, and the sum of squared differences from it: T. Chan, G. Golub and R. LeVeque, "Algorithms for computing the
    sample variance" (1983). Means are taken from a number near them, as they are kept."""
    row, there = rows_of(1, rows, ROWS)
    near = tl.load(found + row, mask=there, other=0.0)[:, None]
    above = found + pieces * rows
    total = tl.zeros((ROWS, BLOCK), found.dtype.element_ty)
    for first in range(0, pieces, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        size = tl.maximum(tl.minimum(n - j * chunk, chunk), 0).to(total.dtype)[None, :]
        mean = tile(found, row, j, pieces, rows, there, 0.0) - near + tile(above, row, j, pieces, rows, there, 0.0)
        total += size * mean
    centre = (tl.sum(total, 1) / n)[:, None]
    total = tl.zeros_like(total)
    for first in range(0, pieces, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        size = tl.maximum(tl.minimum(n - j * chunk, chunk), 0).to(total.dtype)[None, :]
        mean = tile(found, row, j, pieces, rows, there, 0.0) - near + tile(above, row, j, pieces, rows, there, 0.0)
        total += tile(above + pieces * rows, row, j, pieces, rows, there, 0.0) + size * (mean - centre) * (mean - centre)
    return tl.sum(near + centre, 1), tl.sum(total, 1)


def spread(
    x0, y0, found, n, outer, inner, chunk, pieces, correction,
    ROOT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    near, above, squares = moments(x0, n, outer, inner, chunk, tile, ROWS, BLOCK)
    if pieces > 1:
        put_moments(found, near, above, squares, outer, inner, pieces, ROWS)
    else:
        put(y0, deviation(squares, n, correction, ROOT), outer, inner, ROWS)


def spread_of_pieces(
    y0, found, n, rows, chunk, pieces, correction,
    ROOT: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of complex numbers, the sum of both parts' squares."""
    _, squares = joined_moments(found, rows, pieces, n, chunk, ROWS, BLOCK)
    if PARTS == 2:
        squares += joined_moments(found + 3 * pieces * rows, rows, pieces, n, chunk, ROWS, BLOCK)[1]
    put(y0, deviation(squares, n, correction, ROOT), 1, rows, ROWS)


def steps_of_spread(root: int) -> list[Step]:
    constants = {**JOINED["constants"], "ROOT": root, "PARTS": "parts(x0)"}
    values = {**JOINED["values"], "chunk": PIECES["chunk"]}
    return [
        step(**{**WHOLE, "constants": {**TILE, "ROOT": root}})(spread),
        step(**{**JOINED, "constants": constants, "values": values})(spread_of_pieces),
    ]


FOUND = {"found": ("widened(y0)", room("3 * parts(x0)"))}
sequence("var", along="dims", steps=steps_of_spread(0), workspace=FOUND)
sequence("std", along="dims", steps=steps_of_spread(1), workspace=FOUND)


# ---- norms


@triton.jit
def power(x, p):
    a = tl.abs(x)
    if p == 2.0:
        r = a * a
    elif p == 1.0:
        r = a
    elif p == 0.0:
        r = (a != 0).to(a.dtype)
    else:
        r = libdevice.pow(a, p.to(a.dtype) + tl.zeros_like(a))
    return r


@triton.jit
def powers(x0, n, outer, inner, chunk, p, LOAD: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of the powers of this program's chunk of each row, or its extreme."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    extreme = tl.abs(p) == float("inf")
    edge = tl.where(p > 0, 0.0, float("inf"))
    first, end = piece_of(n, chunk)
    total = tl.abs(
        LOAD(x0, start, first + tl.arange(0, BLOCK), first, inner, there, 0.0)
    )  # nothing yet, in the type of magnitudes
    most = total + edge.to(total.dtype)
    for block in range(first, end, BLOCK):
        j = block + tl.arange(0, BLOCK)
        a = tl.abs(LOAD(x0, start, j, end, inner, there, 0.0))
        total += tl.where((j < end)[None, :], power(a, tl.where(extreme, 1.0, p)), 0.0)
        a = tl.where((j < end)[None, :], a, edge.to(a.dtype))
        most = tl.where(p > 0, larger(most, a), smaller(most, a))
    outermost = tl.where(p > 0, tl.reduce(most, 1, larger), tl.reduce(most, 1, smaller))
    return tl.where(extreme, outermost, tl.sum(total, 1))


@triton.jit
def root(s, p):
    power = libdevice.pow(s, (1.0 / p).to(s.dtype) + tl.zeros_like(s))
    as_it_is = (p == 1.0) | (p == 0.0) | (tl.abs(p) == float("inf"))
    return tl.where(p == 2.0, libdevice.sqrt_rn(s), tl.where(as_it_is, s, power))


@step(**WHOLE)
def vector_norm(x0, y0, piece, n, outer, inner, chunk, pieces, p, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put_norm(y0, piece, powers(x0, n, outer, inner, chunk, p, tile, ROWS, BLOCK), outer, inner, pieces, p, ROWS)


@triton.jit
def put_norm(y0, piece, s, outer, inner, pieces, p, ROWS: tl.constexpr):
    if pieces > 1:
        put(piece, s, outer, inner, ROWS)
    else:
        put(y0, root(s, p), outer, inner, ROWS)


@step(**JOINED)
def norm_of_pieces(y0, piece, rows, pieces, p, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """What is summed up are powers already."""
    once = tl.where(tl.abs(p) == float("inf"), p, 1.0)
    put(y0, root(powers(piece, pieces, 1, rows, pieces, once, tile, ROWS, BLOCK), p), 1, rows, ROWS)


sequence("vector_norm", along="dims", steps=[vector_norm, norm_of_pieces], workspace=PIECE)
