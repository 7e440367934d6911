"""LU factorisation with partial pivoting, and what is solved, inverted and told of its factors.

Right-looking by panels (Golub and Van Loan, Matrix Computations, 3.4): one program factors a panel of WIDTH columns, which it holds in
registers over all rows; then programs beside each other take their tile of the other columns, exchange its rows as the panel did and
subtract the products of the panel's columns and of their own finished rows. A matrix up to 64 x 64 is one panel and so one launch.

No row moves in registers: `place` says which position a row has come to, and it goes there when it is stored. The pivot is the largest
|a| + |b| as in LAPACK, of equal ones the first.
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
    exchanged,
    less,
    load,
    load_either,
    over,
    picked,
    store,
    substitute,
    tile_of,
    warps,
)  # fmt: skip


@step(grid="batch", constants=TILE, warps=warps)
def panel(
    x0, lu, pivots, info, rows, columns, down, right, round,
    PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    matrix = tl.program_id(0).to(tl.int64)
    first, most = round * WIDTH, tl.minimum(rows, columns)
    row, column, at, inside = tile_of(matrix, rows, columns, first, down, right, ROWS, WIDTH)
    a, b = load_either(x0, lu, round > 0, at, inside, PARTS)
    failed = tl.load(info + matrix, mask=round > 0, other=0)
    place = row
    for k in range(first, tl.minimum(first + WIDTH, most)):
        c, d = picked(a, b, (column == k)[None, :], 1, PARTS)
        size = tl.abs(c) + tl.abs(d)
        size = tl.where(size == size, size, float("inf"))
        waiting = (place >= k) & (row < rows)
        largest = tl.max(tl.where(waiting, size, -1.0), 0)
        q = tl.min(tl.where(waiting & (size == largest), place, ROWS), 0)
        e, f = picked(a, b, (place == q)[:, None], 0, PARTS)
        r, s = picked(c, d, place == q, 0, PARTS)
        place = exchanged(place, k, q)
        zero = largest == 0
        c, d = over(c, d, tl.where(zero, 1.0, r), s, PARTS)
        g, h = less(a, b, c, d, e, f, PARTS)
        below = (place > k)[:, None]
        g, h = chosen((column > k)[None, :], g, h, c[:, None], d[:, None], PARTS)
        a, b = chosen(below & (column >= k)[None, :], g, h, a, b, PARTS)
        failed = tl.where((failed == 0) & zero, k + 1, failed)
        tl.store(pivots + matrix * most + k, q + 1)
    tl.debug_barrier()
    _, _, at, _ = tile_of(matrix, rows, columns, first, down, right, ROWS, WIDTH)
    store(lu, at + ((place - row).to(tl.int64) * down)[:, None], a, b, inside, PARTS)
    tl.store(info + matrix, failed)


@step(grid=("batch", "cdiv(columns, width)"), constants=TILE, warps=warps, when="width < columns")
def update(
    x0, lu, pivots, rows, columns, down, right, round,
    PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    matrix, tile = tl.program_id(0).to(tl.int64), tl.program_id(1)
    first, most = round * WIDTH, tl.minimum(rows, columns)
    last = tl.minimum(first + WIDTH, most)
    if tile != round:
        row, _, at, inside = tile_of(matrix, rows, columns, tile * WIDTH, down, right, ROWS, WIDTH)
        a, b = load_either(x0, lu, round > 0, at, inside, PARTS)
        place = row
        for k in range(first, last):
            place = exchanged(place, k, tl.load(pivots + matrix * most + k) - 1)
        if tile > round:
            start = matrix * rows * columns
            for k in range(first, last):
                below = place > k
                c, d = load(lu, start + place.to(tl.int64) * down + k * right, below & (row < rows), PARTS)
                e, f = picked(a, b, (place == k)[:, None], 0, PARTS)
                a, b = less(a, b, c, d, e, f, PARTS)
        tl.debug_barrier()  # every row has been read
        store(lu, at + ((place - row).to(tl.int64) * down)[:, None], a, b, inside, PARTS)


FACTORS = {**NAMES, "down": "columns", "right": "1"}
sequence(
    "lu_factor", steps=[panel, update], rounds=ROUNDS, suits=SUITS, info="info", complex=True,
    where={**FACTORS, "lu": "y0", "pivots": "y1", "info": "y2", "batch": "numel(y2)"},
)  # fmt: skip


@triton.jit
def order_of(pivots, matrix, row, n):
    """Which row of the matrix has come to each position."""
    order = row
    for index in range(0, n):
        k = n - 1 - index
        order = exchanged(order, k, tl.load(pivots + matrix * n + k) - 1)
    return order


@triton.jit
def solve_by(
    x, f, pivots, y, matrix, rows, columns,
    ADJOINT: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """A tile of the solution of a y = x, or of a^H y = x, by f^T and f^T's pivots, the factors of a^T."""
    row, _, at, inside = tile_of(matrix, rows, columns, tl.program_id(1) * WIDTH, columns, 1, ROWS, WIDTH)
    f += PARTS * matrix * rows * rows
    order = order_of(pivots, matrix, row, rows)
    moved = at + ((order - row).to(tl.int64) * columns)[:, None]
    if ADJOINT:
        a, b = load(x, moved, inside, PARTS)
        a, b = substitute(a, -b, f, row, rows, 1, rows, False, True, PARTS)
        a, b = substitute(a, b, f, row, rows, 1, rows, True, False, PARTS)
        store(y, at, a, -b, inside, PARTS)
    else:
        a, b = load(x, at, inside, PARTS)
        a, b = substitute(a, b, f, row, rows, rows, 1, False, False, PARTS)
        a, b = substitute(a, b, f, row, rows, rows, 1, True, True, PARTS)
        store(y, moved, a, b, inside, PARTS)


RIGHT_SIDES = {**TILE, "WIDTH": WIDTH.replace("columns", "sides")}
SOLUTIONS = ("batch", f"cdiv(sides, {RIGHT_SIDES['WIDTH']})")


@step(grid=SOLUTIONS, constants=RIGHT_SIDES, warps=warps, when="round == rounds - 1")
def solution(x1, lu, pivots, y0, rows, sides, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    solve_by(x1, lu, pivots, y0, tl.program_id(0).to(tl.int64), rows, sides, False, PARTS, ROWS, WIDTH)


@step(grid=SOLUTIONS, constants={**RIGHT_SIDES, "ADJOINT": "adjoint"}, warps=warps)
def solution_by_factors(
    x1, x2, x3, y0, rows, sides, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, ADJOINT: tl.constexpr
):
    solve_by(x3, x1, x2, y0, tl.program_id(0).to(tl.int64), rows, sides, ADJOINT, PARTS, ROWS, WIDTH)


SQUARE = {**NAMES, "batch": "numel(x0) // max(1, rows * columns)"}
sequence(
    "solve", steps=[panel, update, solution], workspace={"info": ("int32", "batch")}, rounds=ROUNDS, suits=SUITS, info="info", complex=True,
    where={**SQUARE, "down": "1", "right": "columns", "sides": "size(x1, -1)", "lu": "y1", "pivots": "y2"},
)  # fmt: skip
sequence("solve_factored", steps=[solution_by_factors], suits=SUITS, complex=True, where={**SQUARE, "sides": "size(x3, -1)"})


@step(grid=("batch", "cdiv(columns, width)"), constants=TILE, warps=warps, when="round == rounds - 1")
def inverse(lu, pivots, y0, rows, columns, PARTS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    row, column, at, inside = tile_of(matrix, rows, columns, tl.program_id(1) * WIDTH, columns, 1, ROWS, WIDTH)
    order = order_of(pivots, matrix, row, rows)
    a = tl.where(order[:, None] == column[None, :], 1.0, 0.0).to(y0.dtype.element_ty)
    lu += PARTS * matrix * rows * rows
    a, b = substitute(a, tl.zeros_like(a), lu, row, rows, rows, 1, False, True, PARTS)
    a, b = substitute(a, b, lu, row, rows, rows, 1, True, False, PARTS)
    store(y0, at, a, b, inside, PARTS)


FACTORED = {"lu": ("x0", "numel(x0)"), "pivots": ("int32", "numel(x0) // max(1, rows)")}
sequence(
    "inv", steps=[panel, update, inverse], workspace=FACTORED, rounds=ROUNDS, suits=SUITS, info="info", complex=True,
    where={**FACTORS, "info": "y1", "batch": "numel(y1)"},
)  # fmt: skip


@triton.jit
def diagonal(lu, pivots, matrix, n, PARTS: tl.constexpr, ROWS: tl.constexpr):
    """The pivots, with the signs of their exchanges, and ones behind them."""
    k = tl.arange(0, ROWS)
    a, b = load(lu, matrix * n * n + k.to(tl.int64) * (n + 1), k < n, PARTS)
    turned = tl.load(pivots + matrix * n + k, mask=k < n, other=0) != k + 1
    sign = tl.where(turned & (k < n), -1.0, 1.0).to(a.dtype)
    return tl.where(k < n, sign * a, 1.0).to(a.dtype), sign * b


@triton.jit
def product(a, b, c, d):
    return a * c - b * d, a * d + b * c


@triton.jit
def real_product(a, c):
    return a * c


@triton.jit
def product_of_all(a, b, PARTS: tl.constexpr):
    if PARTS == 2:
        return tl.reduce((a, b), 0, product)
    else:
        p = tl.reduce(a, 0, real_product)
        return p, p


ALL = {"PARTS": "parts(x0)", "ROWS": "next_pow2(rows)"}


@step(grid="batch", constants=ALL, when="round == rounds - 1")
def determinant(lu, pivots, y0, rows, PARTS: tl.constexpr, ROWS: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    a, b = diagonal(lu, pivots, matrix, rows, PARTS, ROWS)
    a, b = product_of_all(a, b, PARTS)
    store(y0, matrix, a, b, matrix >= 0, PARTS)


@step(grid="batch", constants=ALL, when="round == rounds - 1")
def sign_and_logarithm(lu, pivots, y0, y1, rows, PARTS: tl.constexpr, ROWS: tl.constexpr):
    matrix = tl.program_id(0).to(tl.int64)
    a, b = diagonal(lu, pivots, matrix, rows, PARTS, ROWS)
    if PARTS == 2:
        size = libdevice.hypot(a, b)
    else:
        size = tl.abs(a)
    tl.store(y1 + matrix, tl.sum(libdevice.log(size), 0))
    a, b = product_of_all(tl.where(size == 0, 0.0, a / size), tl.where(size == 0, 0.0, b / size), PARTS)
    store(y0, matrix, a, b, matrix >= 0, PARTS)


DETERMINED = {
    "workspace": {**FACTORED, "info": ("int32", "batch")},
    "rounds": ROUNDS,
    "suits": SUITS,
    "where": {**FACTORS, "batch": "numel(y0)"},
}
sequence("det", steps=[panel, update, determinant], complex=True, **DETERMINED)
sequence("slogdet", steps=[panel, update, sign_and_logarithm], complex=True, **DETERMINED)


@step(grid="numel(y0) // max(1, rows)", constants={"ROWS": "next_pow2(rows)"})
def permutation(x0, y0, rows, count, ROWS: tl.constexpr):
    """Pivots out of range count as the nearest."""
    matrix = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, ROWS)
    place = row
    for k in range(0, count):
        q = tl.load(x0 + matrix * count + k).to(tl.int32)
        place = exchanged(place, k, tl.minimum(tl.maximum(q, 1), rows) - 1)
    tl.store(y0 + matrix * rows + place, row.to(tl.int64), mask=row < rows)


sequence("lu_permutation", steps=[permutation], where={"rows": "size(y0, -1)", "count": "size(x0, -1)"})
