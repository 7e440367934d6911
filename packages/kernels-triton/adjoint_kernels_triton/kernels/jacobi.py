"""Singular values and Hermitian eigenvalues of small matrices by Jacobi's method from one side (Hestenes, 1958; Golub and Van Loan, Matrix
Computations, 8.6).

Columns are turned by pairs until all are orthogonal: A V = W. The lengths of W's columns are the singular values, the columns over these the
left vectors, and V, which is turned along, holds the right ones; of a wide matrix the same is done with A^H. One program has one matrix, which stays
in its cache, column by column with V's below; a round turns half as many disjoint pairs as there are columns, in the order of a
tournament in which everybody meets everybody (Brent and Luk, 1985). It ends with a sweep that found nothing to turn.

A Hermitian matrix becomes positive definite by a multiple of the identity, which no eigenvalue exceeds in size: then V holds its
eigenvectors. Vectors of singular values that are 0, and those that only fill up an orthonormal basis, are what is left of
unit vectors beside the others (Gram and Schmidt, twice).
"""

import triton
import triton.language as tl

from .._structured import sequence, step
from .cholesky import real_root
from .matrices import chosen, conjugate_times, load, store, times, warps

MOST, TALL, TALL_FULL = 64, 1024, 128  # columns; rows; and rows where a basis is filled up
SWEEPS = tl.constexpr(40)  # some 10 are usual

PAIRS = {
    "PARTS": "parts(x0)",
    "PAIRS": "next_pow2(cdiv(most, 2))",
    "LANES": "max(16, min(next_pow2(tall + most), 1024 // PAIRS))",
}
COLUMNS = {"PARTS": "parts(x0)", "COLUMNS": "next_pow2(most)", "LANES": "max(16, min(next_pow2(tall), 2048 // COLUMNS))"}
LINE = {"PARTS": "parts(x0)", "COLUMNS": "next_pow2(most)", "LANES": "min(next_pow2(tall), 1024)"}


@triton.jit
def power_of_two(x):
    """The largest that is not above x; 1 where that is 0."""
    if x.dtype == tl.float64:
        y = (x.to(tl.int64, bitcast=True) & 0x7FF0000000000000).to(tl.float64, bitcast=True)
    else:
        y = (x.to(tl.int32, bitcast=True) & 0x7F800000).to(tl.float32, bitcast=True)
    return tl.where(y > 0, y, 1.0)


@triton.jit
def tiny(like):
    """Columns of a matrix with elements up to 2 that are as short count as 0: squares vanish."""
    if like.dtype == tl.float64:
        return 2.0**-500
    else:
        return 2.0**-60


@triton.jit
def largest(a, b, PARTS: tl.constexpr):
    top = tl.abs(a)
    if PARTS == 2:
        top = tl.where(top > tl.abs(b), top, tl.abs(b))
    return top


@triton.jit
def not_finite(a, b, PARTS: tl.constexpr):
    wrong = (tl.abs(a) < float("inf")) == 0
    if PARTS == 2:
        wrong = wrong | ((tl.abs(b) < float("inf")) == 0)
    return wrong.to(tl.int32)


@triton.jit
def put_columns(work, matrix, column, row, a, b, tall, most, inside, PARTS: tl.constexpr):
    at = (matrix * most + column.to(tl.int64)[:, None]) * (tall + most) + row[None, :]
    store(work, at, a, b, inside, PARTS)


@triton.jit
def put_identity(work, matrix, column, tall, most, like, PARTS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, COLUMNS)
    a = tl.where(column[:, None] == row[None, :], 1.0, 0.0).to(like.dtype)
    inside = (column < most)[:, None] & (row < most)[None, :]
    put_columns(work, matrix, column, row + tall, a, tl.zeros_like(a), tall, most, inside, PARTS)


@triton.jit
def matrix_tile(x0, matrix, column, row, rows, columns, inside, TURNED: tl.constexpr, PARTS: tl.constexpr):
    """Columns of the matrix, or of its adjoint where that is the tall one."""
    if TURNED:
        a, b = load(x0, matrix * rows * columns + column.to(tl.int64)[:, None] * columns + row[None, :], inside, PARTS)
        return a, -b
    else:
        a, b = load(x0, matrix * rows * columns + row.to(tl.int64)[None, :] * columns + column[:, None], inside, PARTS)
        return a, b


@step(grid="batch", constants={**COLUMNS, "TURNED": "rows < columns"}, warps=warps)
def begin(
    x0, work, scales, failed, rows, columns, tall, most,
    PARTS: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr, TURNED: tl.constexpr,
):  # fmt: skip
    """W is A over a power of two as large as its largest element, V the identity."""
    matrix = tl.program_id(0).to(tl.int64)
    column, lane = tl.arange(0, COLUMNS), tl.arange(0, LANES)
    top = tl.zeros((COLUMNS, LANES), scales.dtype.element_ty)
    wrong = tl.zeros((COLUMNS, LANES), tl.int32)
    for first in range(0, tall, LANES):
        inside = (column < most)[:, None] & (first + lane < tall)[None, :]
        a, b = matrix_tile(x0, matrix, column, first + lane, rows, columns, inside, TURNED, PARTS)
        size = largest(a, b, PARTS)
        wrong += not_finite(a, b, PARTS)
        top = tl.where(size > top, size, top)
    bad = tl.sum(tl.sum(wrong, 1), 0) > 0
    scale = tl.where(bad, 1.0, power_of_two(tl.max(tl.max(top, 1), 0)))
    tl.store(scales + matrix, tl.where(bad, float("nan"), scale))
    tl.store(failed + matrix, tl.where(bad, -1, 0))  # core's not_finite
    for first in range(0, tall, LANES):
        inside = (column < most)[:, None] & (first + lane < tall)[None, :]
        a, b = matrix_tile(x0, matrix, column, first + lane, rows, columns, inside, TURNED, PARTS)
        a, b = chosen(bad, 0.0, 0.0, a / scale, b / scale, PARTS)
        put_columns(work, matrix, column, first + lane, a.to(top.dtype), b.to(top.dtype), tall, most, inside, PARTS)
    put_identity(work, matrix, column, tall, most, top, PARTS, COLUMNS)


@triton.jit
def hermitian_tile(x0, matrix, column, row, rows, inside, PARTS: tl.constexpr):
    """Columns of the matrix that the lower triangle describes."""
    lower = row[None, :] >= column[:, None]
    down = tl.where(lower, row[None, :], column[:, None]).to(tl.int64)
    right = tl.where(lower, column[:, None], row[None, :])
    a, b = load(x0, matrix * rows * rows + down * rows + right, inside, PARTS)
    return a, tl.where(row[None, :] == column[:, None], 0.0, tl.where(lower, b, -b))


@step(grid="batch", constants={"PARTS": "parts(x0)", "COLUMNS": "next_pow2(most)"}, warps=lambda parts, n: warps(parts, n, n))
def begin_hermitian(x0, work, scales, shifts, failed, tall, most, PARTS: tl.constexpr, COLUMNS: tl.constexpr):
    """The same, and to the diagonal is added the largest sum of a row's sizes (Gershgorin's bound of eigenvalues)."""
    matrix = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    inside = (column < most)[:, None] & (column < most)[None, :]
    a, b = hermitian_tile(x0, matrix, column, column, most, inside, PARTS)
    size = largest(a, b, PARTS)
    bad = tl.sum(tl.sum(not_finite(a, b, PARTS), 1), 0) > 0
    scale = tl.where(bad, 1.0, power_of_two(tl.max(tl.max(tl.where(bad, 0.0, size), 1), 0)))
    a, b = chosen(bad, 0.0, 0.0, a / scale, b / scale, PARTS)
    sizes = tl.abs(a)
    if PARTS == 2:
        sizes += tl.abs(b)
    shift = tl.max(tl.sum(sizes, 0), 0)
    a = tl.where(column[:, None] == column[None, :], a + shift, a)
    tl.store(scales + matrix, tl.where(bad, float("nan"), scale))
    tl.store(shifts + matrix, shift)
    tl.store(failed + matrix, tl.where(bad, 1, 0))
    put_columns(work, matrix, column, column, a.to(size.dtype), b.to(size.dtype), tall, most, inside, PARTS)
    put_identity(work, matrix, column, tall, most, size, PARTS, COLUMNS)


@triton.jit
def pair_tile(work, matrix, column, row, tall, most, inside, PARTS: tl.constexpr):
    at = (matrix * most + column.to(tl.int64)[:, None]) * (tall + most) + row[None, :]
    a, b = load(work, at, inside, PARTS)
    return at, a, b


@triton.jit
def rotation(alpha, beta, g, h, bound, PARTS: tl.constexpr):
    """Of columns with the squares alpha and beta and the product g + h i: whether they are far from orthogonal, the cosine and sine that make
    them so, and the phase of the product."""
    size = tl.abs(g)
    if PARTS == 2:
        top = tl.maximum(size, tl.abs(h))
        safe = tl.where(top > 0, top, 1.0)
        size = top * real_root((g / safe) * (g / safe) + (h / safe) * (h / safe))
    wanted = size > bound * real_root(alpha) * real_root(beta)
    size = tl.where(wanted, size, 1.0)
    zeta = (beta - alpha) / (2.0 * size)
    steep = tl.abs(zeta)
    near = 1.0 / (steep + real_root(1.0 + zeta * zeta))
    t = tl.where(steep > 1e8, 0.5 / tl.where(steep > 0, steep, 1.0), near)
    t = tl.where(wanted, tl.where(zeta < 0, -t, t), 0.0)
    cosine = 1.0 / real_root(1.0 + t * t)
    return wanted, cosine, cosine * t, tl.where(wanted, g / size, 1.0), tl.where(wanted, h / size, 0.0)


@step(grid="batch", constants=PAIRS, warps=lambda parts, pairs, lanes: warps(2 * parts, pairs, lanes))
def rotate(work, failed, tall, most, PARTS: tl.constexpr, PAIRS: tl.constexpr, LANES: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    pair, lane = tl.arange(0, PAIRS), tl.arange(0, LANES)
    players = tl.cast(most, tl.int32) + tl.cast(most, tl.int32) % 2
    none = tl.zeros((PAIRS,), work.dtype.element_ty)
    bound = 2.3e-7 if work.dtype.element_ty == tl.float32 else 4.5e-16
    bound = bound * real_root(tl.cast(tall, work.dtype.element_ty))
    sweep = tl.cast(0, tl.int32)
    moved = tl.cast(1, tl.int32)
    while (moved > 0) & (sweep < SWEEPS):
        moved = tl.cast(0, tl.int32)
        for k in range(0, players - 1):
            left = tl.where(pair == 0, players - 1, (k + pair) % (players - 1))
            right = tl.where(pair == 0, k, (k - pair + players - 1) % (players - 1))
            there = (pair < players // 2) & (left < most) & (right < most)
            alpha, beta, g, h = none, none, none, none
            for first in range(0, tall, LANES):
                row = first + lane
                inside = there[:, None] & (row < tall)[None, :]
                _, a, b = pair_tile(work, matrix, left, row, tall, most, inside, PARTS)
                _, c, d = pair_tile(work, matrix, right, row, tall, most, inside, PARTS)
                p, q = conjugate_times(a, b, c, d, PARTS)
                g += tl.sum(p, 1)
                p, _ = conjugate_times(a, b, a, b, PARTS)
                alpha += tl.sum(p, 1)
                p, _ = conjugate_times(c, d, c, d, PARTS)
                beta += tl.sum(p, 1)
                if PARTS == 2:
                    h += tl.sum(q, 1)
            tl.debug_barrier()  # every warp has read what is written now
            wanted, cosine, sine, e, f = rotation(alpha, beta, g, h, bound, PARTS)
            moved += tl.sum((wanted & there).to(tl.int32), 0)
            for first in range(0, tall + most, LANES):
                row = first + lane
                inside = (wanted & there)[:, None] & (row < tall + most)[None, :]
                at, a, b = pair_tile(work, matrix, left, row, tall, most, inside, PARTS)
                to, c, d = pair_tile(work, matrix, right, row, tall, most, inside, PARTS)
                c, d = times(c, d, e[:, None], -f[:, None], PARTS)
                store(work, at, cosine[:, None] * a - sine[:, None] * c, cosine[:, None] * b - sine[:, None] * d, inside, PARTS)
                store(work, to, sine[:, None] * a + cosine[:, None] * c, sine[:, None] * b + cosine[:, None] * d, inside, PARTS)
            tl.debug_barrier()
        sweep += 1
    before = tl.load(failed + matrix)
    tl.store(failed + matrix, tl.where((before == 0) & (moved > 0), 1, before))


@triton.jit
def vector(work, matrix, j, row, tall, most, inside, PARTS: tl.constexpr):
    """Elements of column j of W with V below it."""
    return load(work, (matrix * most + j) * (tall + most) + row, inside, PARTS)


@step(grid=("batch", "most"), constants=LINE)
def lengths(work, sizes, tall, most, PARTS: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr):
    matrix, j = tl.program_id(0).to(tl.int64), tl.program_id(1)
    total = tl.zeros((LANES,), sizes.dtype.element_ty)
    for first in range(0, tall, LANES):
        row = first + tl.arange(0, LANES)
        a, b = vector(work, matrix, j, row, tall, most, row < tall, PARTS)
        p, _ = conjugate_times(a, b, a, b, PARTS)
        total += p
    tl.store(sizes + matrix * most + j, real_root(tl.sum(total, 0)))


@step(grid=("batch", "most"), constants=LINE)
def eigenvalues(work, sizes, shifts, tall, most, PARTS: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr):
    """Products of W's columns and V's, less what was added to the diagonal."""
    matrix, j = tl.program_id(0).to(tl.int64), tl.program_id(1)
    row = tl.arange(0, LANES)
    a, b = vector(work, matrix, j, row, tall, most, row < tall, PARTS)
    c, d = vector(work, matrix, j, row + tall, tall, most, row < most, PARTS)
    p, _ = conjugate_times(a, b, c, d, PARTS)
    tl.store(sizes + matrix * most + j, tl.sum(p, 0) - tl.load(shifts + matrix))


@triton.jit
def place_of(sizes, matrix, j, most, ASCENDING: tl.constexpr, COLUMNS: tl.constexpr):
    """How many stand before column j in order, and its own size."""
    i = tl.arange(0, COLUMNS)
    size, own = tl.load(sizes + matrix * most + i, mask=i < most, other=0.0), tl.load(sizes + matrix * most + j)
    before = size < own if ASCENDING else size > own
    return tl.sum(((i < most) & (before | ((size == own) & (i < j)))).to(tl.int32), 0), own


@triton.jit
def put_vector(y0, y2, matrix, place, row, a, b, rows, columns, left, right, inside, LEFT: tl.constexpr, PARTS: tl.constexpr):
    """As a column of y0, or adjoint as a row of y2."""
    if LEFT:
        store(y0, (matrix * rows + row) * left + place, a, b, inside, PARTS)
    else:
        store(y2, (matrix * right + place) * columns + row, a, -b, inside, PARTS)


@step(grid=("batch", "most"), constants={**LINE, "TURNED": "rows < columns", "VECTORS": "0 < left"})
def deliver(
    work, sizes, scales, y0, y1, y2, rows, columns, tall, most, left, right,
    PARTS: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr, TURNED: tl.constexpr, VECTORS: tl.constexpr,
):  # fmt: skip
    matrix, j = tl.program_id(0).to(tl.int64), tl.program_id(1)
    place, own = place_of(sizes, matrix, j, most, False, COLUMNS)
    tl.store(y1 + matrix * most + place, own * tl.load(scales + matrix))
    if VECTORS:
        over = tl.where(own > tiny(own), own, 1.0)
        for first in range(0, tall, LANES):
            row = first + tl.arange(0, LANES)
            a, b = vector(work, matrix, j, row, tall, most, row < tall, PARTS)
            put_vector(
                y0, y2, matrix, place, row, a / over, b / over, rows, columns, left, right, row < tall, not TURNED, PARTS
            )
        row = tl.arange(0, COLUMNS)
        a, b = vector(work, matrix, j, row + tall, tall, most, row < most, PARTS)
        put_vector(y0, y2, matrix, place, row, a, b, rows, columns, left, right, row < most, TURNED, PARTS)


@step(grid=("batch", "most"), constants={**LINE, "VECTORS": "0 < left"})
def deliver_hermitian(
    work,
    sizes,
    scales,
    y0,
    y1,
    tall,
    most,
    left,
    PARTS: tl.constexpr,
    COLUMNS: tl.constexpr,
    LANES: tl.constexpr,
    VECTORS: tl.constexpr,
):
    matrix, j = tl.program_id(0).to(tl.int64), tl.program_id(1)
    place, own = place_of(sizes, matrix, j, most, True, COLUMNS)
    tl.store(y0 + matrix * most + place, own * tl.load(scales + matrix))
    if VECTORS:
        row = tl.arange(0, COLUMNS)
        a, b = vector(work, matrix, j, row + tall, tall, most, row < most, PARTS)
        store(y1, (matrix * most + row) * most + place, a, b, row < most, PARTS)


@triton.jit
def basis(y0, y2, matrix, place, row, rows, columns, wide, inside, TURNED: tl.constexpr, PARTS: tl.constexpr):
    """Vectors `place` of the tall side, one a row of the tile."""
    if TURNED:
        a, b = load(y2, (matrix * wide + place)[:, None] * columns + row[None, :], inside, PARTS)
        return a, -b
    else:
        return load(y0, (matrix * rows + row)[None, :] * wide + place[:, None], inside, PARTS)


@step(
    grid="batch", when="0 < left",
    constants={**LINE, "LANES": "next_pow2(tall)", "SOME": "max(1, 2048 // LANES)", "TURNED": "rows < columns"},
    warps=lambda parts, columns, lanes, some, turned: warps(parts, lanes, some),
)  # fmt: skip
def complete(
    sizes, y0, y2, rows, columns, tall, most, wide,
    PARTS: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr, SOME: tl.constexpr, TURNED: tl.constexpr,
):  # fmt: skip
    """Vectors of the tall side that no singular value gives: of the unit vector that those there are reach least, what is beside them."""
    matrix = tl.program_id(0).to(tl.int64)
    i, row, some = tl.arange(0, COLUMNS), tl.arange(0, LANES), tl.arange(0, SOME)
    size = tl.load(sizes + matrix * most + i, mask=i < most, other=0.0)
    found = tl.sum((size > tiny(size)).to(tl.int32), 0)
    reached = tl.zeros((LANES,), size.dtype)
    for first in range(0, found, SOME):
        inside = (first + some < found)[:, None] & (row < tall)[None, :]
        a, b = basis(y0, y2, matrix, first + some, row, rows, columns, wide, inside, TURNED, PARTS)
        p, _ = conjugate_times(a, b, a, b, PARTS)
        reached += tl.sum(p, 0)
    for j in range(found, wide):
        least = tl.argmin(tl.where(row < tall, reached, float("inf")), 0)
        v = tl.where(row == least, 1.0, 0.0).to(size.dtype)
        w = tl.zeros_like(v)
        for _ in range(2):
            c, d = tl.zeros_like(v), tl.zeros_like(v)
            for first in range(0, j, SOME):
                inside = (first + some < j)[:, None] & (row < tall)[None, :]
                a, b = basis(y0, y2, matrix, first + some, row, rows, columns, wide, inside, TURNED, PARTS)
                p, q = conjugate_times(a, b, v[None, :], w[None, :], PARTS)
                p, q = times(a, b, tl.sum(p, 1)[:, None], tl.sum(q, 1)[:, None], PARTS)
                c += tl.sum(p, 0)
                d += tl.sum(q, 0)
            v, w = v - c, w - d
        p, _ = conjugate_times(v, w, v, w, PARTS)
        length = real_root(tl.sum(p, 0))
        v, w = v / length, w / length
        put_vector(y0, y2, matrix, j, row, v, w, rows, columns, wide, wide, row < tall, not TURNED, PARTS)
        p, _ = conjugate_times(v, w, v, w, PARTS)
        reached += p
        tl.debug_barrier()


sequence(
    "svd", steps=[begin, rotate, lengths, deliver, complete], complex=True, info="failed",
    workspace={
        "work": ("x0", "batch * most * (tall + most)"), "sizes": ("y1", "batch * most"), "scales": ("y1", "batch"), "failed": ("int32", "batch"),
    },
    where={
        "rows": "size(x0, -2)", "columns": "size(x0, -1)", "most": "min(rows, columns)", "tall": "max(rows, columns)",
        "left": "size(y0, -1)", "right": "size(y2, -2)", "wide": "max(left, right)", "batch": "numel(y1) // max(1, most)",
    },
    suits=f"(0 < most) * (most < {MOST + 1}) * (tall < ({TALL_FULL + 1} if most < wide else {TALL + 1}))",
)  # fmt: skip
sequence(
    "eigh", steps=[begin_hermitian, rotate, eigenvalues, deliver_hermitian], complex=True, info="failed",
    workspace={
        "work": ("x0", "2 * batch * most * most"), "sizes": ("y0", "batch * most"), "scales": ("y0", "batch"), "shifts": ("y0", "batch"),
        "failed": ("int32", "batch"),
    },
    where={"most": "size(x0, -1)", "tall": "most", "left": "size(y1, -1)", "batch": "numel(y0) // max(1, most)"},
    suits=f"(0 < most) * (most < {MOST + 1})",
)  # fmt: skip
