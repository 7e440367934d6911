"""Reductions: memory is (outer, n, inner), and a program reduces ROWS pairs of outer and inner positions, BLOCK elements at a time."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened

# Along neighbours in memory, long blocks of few rows; else blocks as wide as the rows are.
TILE = {
    "ROWS": "max(1, 512 // min(next_pow2(n), 1024)) if inner == 1 else min(next_pow2(inner), 64)",
    "BLOCK": "min(next_pow2(n), 1024) if inner == 1 else min(next_pow2(n), 32)",
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
def folded(
    x0, n, outer, inner, chunk, other,
    LOAD: tl.constexpr, FUNCTION: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """This program's chunk of its rows, loaded (as `tile` or `truth`) and combined down to one block of each."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    first = tl.program_id(1).to(tl.int64) * chunk
    end = tl.minimum(first + chunk, n)
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


SPLIT = {"grid": (GRID, "max(1, cdiv(n, chunk))"), "constants": TILE, "split": True}


@kernel(along="dims", linear=True, **SPLIT)
def sum(x0, y0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, 0, tile, plus, ROWS, BLOCK), 1, plus), outer, inner, ROWS)


@kernel(along="dims", **SPLIT)
def nansum(x0, y0, n, outer, inner, chunk, total, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    if n == total:  # in later passes NaN comes of infinities
        put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, 0.0, numbers, plus, ROWS, BLOCK), 1, plus), outer, inner, ROWS)
    else:
        put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, 0.0, tile, plus, ROWS, BLOCK), 1, plus), outer, inner, ROWS)


@kernel(along="dims", linear=True, **SPLIT)
def mean(x0, y0, n, outer, inner, chunk, last, total, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, 0.0, tile, plus, ROWS, BLOCK), 1, plus)
    put(y0, tl.where(last == 1, y / total, y), outer, inner, ROWS)


@kernel(along="dim", **SPLIT)
def prod(x0, y0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, 1, tile, times, ROWS, BLOCK), 1, times), outer, inner, ROWS)


@kernel(along="dims", **SPLIT)
def amax(x0, y0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, lowest(x0), tile, larger, ROWS, BLOCK), 1, larger), outer, inner, ROWS)


@kernel(along="dims", **SPLIT)
def amin(x0, y0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(
        y0,
        tl.reduce(folded(x0, n, outer, inner, chunk, highest(x0), tile, smaller, ROWS, BLOCK), 1, smaller),
        outer,
        inner,
        ROWS,
    )


@kernel(along="dims", **SPLIT)
def all(x0, y0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, 1, truth, both, ROWS, BLOCK), 1, both) != 0, outer, inner, ROWS)


@kernel(along="dims", **SPLIT)
def any(x0, y0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, tl.reduce(folded(x0, n, outer, inner, chunk, 0, truth, either, ROWS, BLOCK), 1, either) != 0, outer, inner, ROWS)


@kernel(along="dims", grid=GRID, constants=TILE)
def logsumexp(x0, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    top = tl.reduce(folded(x0, n, outer, inner, n, -float("inf"), tile, larger, ROWS, BLOCK), 1, larger)
    shift = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    j = tl.arange(0, BLOCK).to(tl.int64)
    total = libdevice.exp(tile(x0, start, j, n, inner, there, -float("inf")) - shift[:, None])
    for _ in range(BLOCK, n, BLOCK):
        j += BLOCK
        total += libdevice.exp(tile(x0, start, j, n, inner, there, -float("inf")) - shift[:, None])
    put(y0, shift + libdevice.log(tl.sum(total, 1)), outer, inner, ROWS)


@triton.jit
def variance(x0, n, outer, inner, correction, LOAD: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """In two passes: the mean, then the squares of what differs from it."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    centre = tl.reduce(folded(x0, n, outer, inner, n, 0.0, LOAD, plus, ROWS, BLOCK), 1, plus) / n
    j = tl.arange(0, BLOCK).to(tl.int64)
    d = tl.where((j < n)[None, :], LOAD(x0, start, j, n, inner, there, 0.0) - centre[:, None], 0.0)
    total = d * d
    for _ in range(BLOCK, n, BLOCK):
        j += BLOCK
        d = tl.where((j < n)[None, :], LOAD(x0, start, j, n, inner, there, 0.0) - centre[:, None], 0.0)
        total += d * d
    free = n - correction
    return tl.sum(total, 1) / tl.where(free > 0, free, 0.0).to(total.dtype)


@kernel(along="dims", grid=GRID, constants=TILE)
def var(x0, y0, n, outer, inner, correction, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, variance(x0, n, outer, inner, correction, tile, ROWS, BLOCK), outer, inner, ROWS)


@kernel(along="dims", grid=GRID, constants=TILE)
def std(x0, y0, n, outer, inner, correction, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, libdevice.sqrt_rn(variance(x0, n, outer, inner, correction, tile, ROWS, BLOCK)), outer, inner, ROWS)


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
def norm_of(x0, n, outer, inner, p, LOAD: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    extreme = tl.abs(p) == float("inf")
    edge = tl.where(p > 0, 0.0, float("inf"))
    j = tl.arange(0, BLOCK).to(tl.int64)
    a = tl.abs(LOAD(x0, start, j, n, inner, there, 0.0))
    total = tl.where((j < n)[None, :], power(a, tl.where(extreme, 1.0, p)), 0.0)
    most = tl.where((j < n)[None, :], a, edge.to(a.dtype))
    for _ in range(BLOCK, n, BLOCK):
        j += BLOCK
        a = tl.abs(LOAD(x0, start, j, n, inner, there, 0.0))
        total += tl.where((j < n)[None, :], power(a, tl.where(extreme, 1.0, p)), 0.0)
        a = tl.where((j < n)[None, :], a, edge.to(a.dtype))
        most = tl.where(p > 0, larger(most, a), smaller(most, a))
    s = tl.sum(total, 1)
    root = tl.where(
        p == 2.0,
        libdevice.sqrt_rn(s),
        tl.where((p == 1.0) | (p == 0.0), s, libdevice.pow(s, (1.0 / p).to(s.dtype) + tl.zeros_like(s))),
    )
    outermost = tl.where(p > 0, tl.reduce(most, 1, larger), tl.reduce(most, 1, smaller))
    return tl.where(extreme, outermost, root)


@kernel(along="dims", grid=GRID, constants=TILE)
def vector_norm(x0, y0, n, outer, inner, p, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(y0, norm_of(x0, n, outer, inner, p, tile, ROWS, BLOCK), outer, inner, ROWS)
