"""Cholesky factorisation, and solutions with a triangle.

Right-looking by panels (Golub and Van Loan, Matrix Computations, 4.2): one program factors a panel of WIDTH columns, which it holds in
registers over all rows; then programs beside each other subtract the products of the panel's columns from their tile of the columns
behind it. A matrix up to 64 x 64 is one panel and so one launch. Of a matrix that is not positive definite, what follows is NaN.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import sequence, step
from .matrices import (
    NAMES,
    ROUNDS,
    SUITS,
    TILE,
    WIDTH,
    chosen,
    less,
    load,
    load_either,
    picked,
    store,
    substitute,
    tile_of,
    warps,
)  # fmt: skip


@triton.jit
def real_root(x):
    if x.dtype == tl.float64:
        return libdevice.sqrt(x)
    else:
        return tl.sqrt_rn(x)


@step(grid="numel(y1)", constants=TILE, warps=warps)
def panel(x0, y0, y1, rows, columns, round, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    first = round * WIDTH
    row, column, at, inside = tile_of(matrix, rows, columns, first, columns, 1, ROWS, WIDTH)
    a, b = load_either(x0, y0, round > 0, at, inside, PARTS)
    failed = tl.load(y1 + matrix, mask=round > 0, other=0)
    for k in range(first, tl.minimum(first + WIDTH, columns)):
        c, d = picked(a, b, (column == k)[None, :], 1, PARTS)
        pivot, _ = picked(c, d, row == k, 0, PARTS)
        failed = tl.where((failed == 0) & ((pivot > 0) == 0), k + 1, failed)
        root = real_root(pivot)
        c, d = chosen(row == k, root, 0.0, c / root, d / root, PARTS)
        e, f = picked(c[:, None], d[:, None], row[:, None] == column[None, :], 0, PARTS)
        g, h = less(a, b, c, d, e, -f, PARTS)
        g, h = chosen((column > k)[None, :], g, h, c[:, None], d[:, None], PARTS)
        a, b = chosen((row >= k)[:, None] & (column >= k)[None, :], g, h, a, b, PARTS)
    lower = row[:, None] >= column[None, :]
    a, b = chosen(lower, a, b, 0.0, 0.0, PARTS)
    store(y0, at, a, b, inside, PARTS)
    tl.store(y1 + matrix, failed)


@step(grid=("numel(y1)", "cdiv(columns, width)"), constants=TILE, warps=warps, when="width < columns")
def update(x0, y0, rows, columns, round, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    matrix, tile = tl.program_id(0).to(tl.int64), tl.program_id(1)
    first = round * WIDTH
    if tile > round:
        row, column, at, inside = tile_of(matrix, rows, columns, tile * WIDTH, columns, 1, ROWS, WIDTH)
        inside = inside & (row[:, None] >= column[None, :])
        a, b = load_either(x0, y0, round > 0, at, inside, PARTS)
        start = matrix * rows * columns
        for k in range(first, first + WIDTH):
            c, d = load(y0, start + row.to(tl.int64) * columns + k, (row >= tile * WIDTH) & (row < rows), PARTS)
            e, f = load(y0, start + column.to(tl.int64) * columns + k, column < columns, PARTS)
            a, b = less(a, b, c, d, e, -f, PARTS)
        store(y0, at, a, b, inside, PARTS)


sequence("cholesky", steps=[panel, update], rounds=ROUNDS, suits=SUITS, where=NAMES, info="y1", complex=True)


SIDES = {"rows": "size(x0, -1)", "sides": "size(x1, -1)"}
TILE_OF_SIDES = {**TILE, "WIDTH": WIDTH.replace("columns", "sides"), "UPPER": "upper", "UNIT": "unit"}


@step(
    grid=("numel(x1) // max(1, rows * sides)", f"cdiv(sides, {TILE_OF_SIDES['WIDTH']})"), constants=TILE_OF_SIDES, warps=warps
)  # fmt: skip
def solution(
    x0, x1, y0, rows, sides,
    PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, UPPER: tl.constexpr, UNIT: tl.constexpr,
):  # fmt: skip
    matrix = tl.program_id(0).to(tl.int64)
    row, _, at, inside = tile_of(matrix, rows, sides, tl.program_id(1) * WIDTH, sides, 1, ROWS, WIDTH)
    a, b = load(x1, at, inside, PARTS)
    a, b = substitute(a, b, x0 + PARTS * matrix * rows * rows, row, rows, rows, 1, UPPER, UNIT, PARTS)
    store(y0, at, a, b, inside, PARTS)


sequence("solve_triangular", steps=[solution], suits=SUITS, where=SIDES, complex=True)
