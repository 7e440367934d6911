"""QR factorisation by Householder's reflections, with LAPACK's choice of signs (xLARFG: what becomes the diagonal of R is real).

By panels: one program reflects a panel of WIDTH columns, which it holds in registers over all rows, and keeps the vectors of its reflections
H = 1 - tau v v^H below the diagonal of `work`, their tau on it; then programs beside each other apply them to their tile of the other
columns. At last each tile of Q is made of that of the identity, by all reflections from the last to the first. A matrix up to 64 x 64 is
one panel.
"""

import triton
import triton.language as tl

from .._structured import sequence, step
from .cholesky import real_root
from .matrices import (
    NAMES,
    ROUNDS,
    SUITS,
    TILE,
    WIDTH,
    chosen,
    conjugate_times,
    less,
    load,
    load_either,
    over,
    picked,
    store,
    tile_of,
    times,
    warps,
)  # fmt: skip


@triton.jit
def norm(a, b, PARTS: tl.constexpr):
    """Scaled by the largest part, so that no square overflows or vanishes."""
    size = tl.abs(a)
    if PARTS == 2:
        size = tl.maximum(size, tl.abs(b))
    top = tl.max(size, 0)
    scale = tl.where(top > 0, top, 1.0)
    a, b = a / scale, b / scale
    square = a * a
    if PARTS == 2:
        square += b * b
    return scale * real_root(tl.sum(square, 0))


@triton.jit
def reflected(a, b, v, w, tau, sigma, PARTS: tl.constexpr):
    """The tile less tau + sigma i times v + w i times its products with the tile."""
    p, q = conjugate_times(v[:, None], w[:, None], a, b, PARTS)
    p, q = picked(p, q, v[:, None] == v[:, None], 0, PARTS)
    p, q = times(p, q, tau, sigma, PARTS)
    return less(a, b, v, w, p, q, PARTS)


@step(grid="batch", constants=TILE, warps=warps)
def panel(x0, work, y1, rows, columns, tall, round, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    first = round * WIDTH
    row, column, at, inside = tile_of(matrix, rows, columns, first, columns, 1, ROWS, WIDTH)
    a, b = load_either(x0, work, round > 0, at, inside, PARTS)
    tau, sigma = tl.zeros((WIDTH,), a.dtype), tl.zeros((WIDTH,), a.dtype)
    for k in range(first, tl.minimum(first + WIDTH, tl.minimum(rows, columns))):
        c, d = picked(a, b, (column == k)[None, :], 1, PARTS)
        c, d = chosen(row >= k, c, d, 0.0, 0.0, PARTS)
        p, q = picked(c, d, row == k, 0, PARTS)
        alone = tl.sum(((row > k) & ((c != 0) | (d != 0))).to(tl.int32), 0) == 0
        done = alone & (q == 0)
        size = norm(c, d, PARTS)
        beta = tl.where((p < 0) | ((p == 0) & (1 / p < 0)), size, -size)
        safe = tl.where(done, 1.0, beta)
        t, s = tl.where(done, 0.0, (beta - p) / safe), tl.where(done, 0.0, -q / safe)
        v, w = over(c, d, tl.where(done, 1.0, p - beta), tl.where(done, 0.0, q), PARTS)
        v, w = chosen(row > k, v, w, tl.where(row == k, 1.0, 0.0), 0.0, PARTS)
        g, h = reflected(a, b, v, w, t, -s, PARTS)
        diagonal = tl.where(done, p, beta)
        c, d = chosen(row == k, diagonal, 0.0, v, w, PARTS)
        g, h = chosen((column > k)[None, :], g, h, c[:, None], d[:, None], PARTS)
        a, b = chosen((row >= k)[:, None] & (column >= k)[None, :], g, h, a, b, PARTS)
        tau, sigma = chosen(column == k, t, s, tau, sigma, PARTS)
    e, f = chosen(row[:, None] == column[None, :], tau[None, :], sigma[None, :], a, b, PARTS)
    store(work, at, e, f, inside, PARTS)
    a, b = chosen(row[:, None] <= column[None, :], a, b, 0.0, 0.0, PARTS)
    _, _, at, _ = tile_of(matrix, tall, columns, first, columns, 1, ROWS, WIDTH)
    store(y1, at, a, b, inside & (row < tall)[:, None], PARTS)


@triton.jit
def reflection(work, matrix, k, row, rows, columns, PARTS: tl.constexpr):
    """Its vector and tau, as `panel` left them."""
    start = matrix * rows * columns + k
    v, w = load(work, start + row.to(tl.int64) * columns, (row > k) & (row < rows), PARTS)
    tau, sigma = load(work, start + tl.cast(k, tl.int64) * columns, k < rows, PARTS)
    return tl.where(row == k, 1.0, v).to(v.dtype), w, tau, sigma


@step(grid=("batch", "cdiv(columns, width)"), constants=TILE, warps=warps, when="width < columns")
def update(x0, work, rows, columns, round, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    matrix, tile = tl.program_id(0).to(tl.int64), tl.program_id(1)
    first = round * WIDTH
    if tile > round:
        row, _, at, inside = tile_of(matrix, rows, columns, tile * WIDTH, columns, 1, ROWS, WIDTH)
        a, b = load_either(x0, work, round > 0, at, inside, PARTS)
        for k in range(first, tl.minimum(first + WIDTH, tl.minimum(rows, columns))):
            v, w, tau, sigma = reflection(work, matrix, k, row, rows, columns, PARTS)
            a, b = reflected(a, b, v, w, tau, -sigma, PARTS)
        store(work, at, a, b, inside, PARTS)


WIDE = {**TILE, "WIDTH": WIDTH.replace("columns", "wide")}


@step(grid=("batch", f"cdiv(wide, {WIDE['WIDTH']})"), constants=WIDE, warps=warps, when="round == rounds - 1")
def orthogonal(work, y0, rows, columns, wide, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    row, column, at, inside = tile_of(matrix, rows, wide, tl.program_id(1) * WIDTH, wide, 1, ROWS, WIDTH)
    a = tl.where(row[:, None] == column[None, :], 1.0, 0.0).to(y0.dtype.element_ty)
    b = tl.zeros_like(a)
    count = tl.minimum(rows, columns)
    for index in range(0, count):
        v, w, tau, sigma = reflection(work, matrix, count - 1 - index, row, rows, columns, PARTS)
        a, b = reflected(a, b, v, w, tau, sigma, PARTS)
    store(y0, at, a, b, inside, PARTS)


sequence(
    "qr", steps=[panel, update, orthogonal], workspace={"work": ("x0", "numel(x0)")}, rounds=ROUNDS, suits=SUITS, complex=True,
    where={**NAMES, "wide": "size(y0, -1)", "tall": "size(y1, -2)", "batch": "numel(y0) // max(1, rows * wide)"},
)  # fmt: skip
