"""Reductions: memory is (outer, n, inner), and a program reduces ROWS pairs of outer and inner positions, BLOCK elements at a time."""

import triton
import triton.language as tl

from .._structured import sequence, step
from .._templates import widened
from .pieces import BLOCK, COUNT, JOINED, PIECES, room

# Along neighbours in memory, long blocks of few rows; else blocks as wide as the rows are.
TILE = {
    "ROWS": "max(1, 512 // min(next_pow2(n), 1024)) if inner == 1 else min(next_pow2(inner), 64)",
    "BLOCK": f"min(next_pow2(n), {BLOCK})",
}
GRID = "cdiv(outer * inner, ROWS)"


@triton.jit
def rows_of(outer, inner, ROWS: tl.constexpr):
    """The rows of this program, and which of them there are."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    return row, row < outer * inner


@triton.jit
def starts(row, n, inner):
    """Where rows start."""
    return (row // inner) * n * inner + row % inner


@triton.jit
def tile(x0, start, j, end, inner, there, other):
    """Elements j of rows, those beyond `end` as `other`."""
    mask = there[:, None] & (j < end)[None, :]
    return widened(tl.load(x0 + start[:, None] + (j * inner)[None, :], mask=mask, other=other))


@triton.jit
def truth(x0, start, j, end, inner, there, other):
    """Whether elements are not zero."""
    return (tile(x0, start, j, end, inner, there, other) != 0).to(tl.int32)


@triton.jit
def numbers(x0, start, j, end, inner, there, other):
    """Elements, and 0 for NaN."""
    x = tile(x0, start, j, end, inner, there, other)
    return tl.where(x == x, x, 0.0)


@triton.jit
def plus(a, b):
    if a.dtype == tl.int1:
        return a | b
    else:
        return a + b


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def larger(a, b):
    return tl.where((a != a) | (a > b), a, b)


@triton.jit
def smaller(a, b):
    return tl.where((a != a) | (a < b), a, b)


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def lowest(x0):
    """The identity of the maximum."""
    if x0.dtype.element_ty.is_floating():
        return -float("inf")
    elif x0.dtype.element_ty == tl.int1:
        return False
    elif x0.dtype.element_ty.is_int_signed():
        return -(2 ** (x0.dtype.element_ty.primitive_bitwidth - 1))
    else:
        return 0


@triton.jit
def highest(x0):
    """The identity of the minimum."""
    if x0.dtype.element_ty.is_floating():
        return float("inf")
    elif x0.dtype.element_ty == tl.int1:
        return True
    elif x0.dtype.element_ty.is_int_signed():
        return 2 ** (x0.dtype.element_ty.primitive_bitwidth - 1) - 1
    else:
        return 2**x0.dtype.element_ty.primitive_bitwidth - 1


@triton.jit
def piece_of(n, chunk):
    """The first element of this program's piece, and the one behind its last."""
    first = tl.program_id(1).to(tl.int64) * chunk
    return first, tl.minimum(first + chunk, n)


@triton.jit
def folded(
    x0, n, outer, inner, chunk, other,
    LOAD: tl.constexpr, FUNCTION: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """This program's chunk of its rows, loaded (as `tile` or `truth`) and combined down to one block of each."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    first, end = piece_of(n, chunk)
    j = first + tl.arange(0, BLOCK)
    result = LOAD(x0, start, j, end, inner, there, other)
    for _ in range(first + BLOCK, end, BLOCK):
        j += BLOCK
        result = FUNCTION(result, LOAD(x0, start, j, end, inner, there, other))
    return result


@triton.jit
def put(y0, y, outer, inner, ROWS: tl.constexpr):
    """A value for each row; program p of the second axis writes row p of (parts, rows)."""
    row, there = rows_of(outer, inner, ROWS)
    place = tl.program_id(1).to(tl.int64) * outer * inner + row
    tl.store(y0 + place, y.to(y0.dtype.element_ty), mask=there)


@triton.jit
def put_piece(y0, piece, y, outer, inner, pieces, ROWS: tl.constexpr):
    """A value for each row, or of a piece of it."""
    if pieces > 1:
        put(piece, y, outer, inner, ROWS)
    else:
        put(y0, y, outer, inner, ROWS)


WHOLE = {"grid": (GRID, COUNT), "constants": TILE, "values": PIECES}
PIECE = {"piece": ("widened(y0)", room())}


@step(**WHOLE)
def sum(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put_piece(
        y0,
        piece,
        tl.reduce(folded(x0, n, outer, inner, chunk, 0, tile, plus, ROWS, BLOCK), 1, plus),
        outer,
        inner,
        pieces,
        ROWS,
    )


@step(**WHOLE)
def nansum(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put_piece(
        y0,
        piece,
        tl.reduce(folded(x0, n, outer, inner, chunk, 0.0, numbers, plus, ROWS, BLOCK), 1, plus),
        outer,
        inner,
        pieces,
        ROWS,
    )


@step(**JOINED)
def sum_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(piece, pieces, 1, rows, pieces, 0, tile, plus, ROWS, BLOCK), 1, plus), 1, rows, ROWS)


@step(**WHOLE)
def mean(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, 0.0, tile, plus, ROWS, BLOCK), 1, plus)
    put_piece(y0, piece, y if pieces > 1 else y / n, outer, inner, pieces, ROWS)


@step(**{**JOINED, "values": {**JOINED["values"], "total": "n"}})
def mean_of_pieces(y0, piece, rows, pieces, total, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(piece, pieces, 1, rows, pieces, 0.0, tile, plus, ROWS, BLOCK), 1, plus) / total, 1, rows, ROWS)


@step(**WHOLE)
def prod(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put_piece(
        y0,
        piece,
        tl.reduce(folded(x0, n, outer, inner, chunk, 1, tile, times, ROWS, BLOCK), 1, times),
        outer,
        inner,
        pieces,
        ROWS,
    )


@step(**JOINED)
def prod_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(piece, pieces, 1, rows, pieces, 1, tile, times, ROWS, BLOCK), 1, times), 1, rows, ROWS)


@step(**WHOLE)
def amax(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, lowest(x0), tile, larger, ROWS, BLOCK), 1, larger)
    put_piece(y0, piece, y, outer, inner, pieces, ROWS)


@step(**JOINED)
def amax_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(
        y0,
        tl.reduce(folded(piece, pieces, 1, rows, pieces, lowest(piece), tile, larger, ROWS, BLOCK), 1, larger),
        1,
        rows,
        ROWS,
    )


@step(**WHOLE)
def amin(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, highest(x0), tile, smaller, ROWS, BLOCK), 1, smaller)
    put_piece(y0, piece, y, outer, inner, pieces, ROWS)


@step(**JOINED)
def amin_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(
        y0,
        tl.reduce(folded(piece, pieces, 1, rows, pieces, highest(piece), tile, smaller, ROWS, BLOCK), 1, smaller),
        1,
        rows,
        ROWS,
    )


@step(**WHOLE)
def all(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, 1, truth, both, ROWS, BLOCK), 1, both)
    put_piece(y0, piece, y != 0, outer, inner, pieces, ROWS)


@step(**JOINED)
def all_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(piece, pieces, 1, rows, pieces, 1, truth, both, ROWS, BLOCK), 1, both) != 0, 1, rows, ROWS)


@step(**WHOLE)
def any(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, 0, truth, either, ROWS, BLOCK), 1, either)
    put_piece(y0, piece, y != 0, outer, inner, pieces, ROWS)


@step(**JOINED)
def any_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(piece, pieces, 1, rows, pieces, 0, truth, either, ROWS, BLOCK), 1, either) != 0, 1, rows, ROWS)


sequence("sum", along="dims", linear=True, steps=[sum, sum_of_pieces], workspace=PIECE)
sequence("nansum", along="dims", steps=[nansum, sum_of_pieces], workspace=PIECE)
sequence("mean", along="dims", linear=True, steps=[mean, mean_of_pieces], workspace=PIECE)
sequence("prod", along="dim", steps=[prod, prod_of_pieces], workspace=PIECE)
sequence("amax", along="dims", steps=[amax, amax_of_pieces], workspace=PIECE)
sequence("amin", along="dims", steps=[amin, amin_of_pieces], workspace=PIECE)
sequence("all", along="dims", steps=[all, all_of_pieces], workspace=PIECE)
sequence("any", along="dims", steps=[any, any_of_pieces], workspace=PIECE)
