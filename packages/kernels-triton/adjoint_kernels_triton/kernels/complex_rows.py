"""Reductions, scans and products of complex numbers: what stands in `reduce`, `scan`, `index` and `matmul`, of pairs."""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import complex_kernel
from .complex import log, mul
from .index import lanes, position
from .matmul import origins, tile_of
from .moments import deviation, moments, powers, put_moments, put_norm
from .reduce import both, either, folded, piece_of, put, put_piece, rows_of, starts
from .scan import along_lines, last_of


@triton.jit
def real_tile(x0, start, j, end, inner, there, other):
    """Real parts of elements j of rows, those beyond `end` as `other`."""
    mask = there[:, None] & (j < end)[None, :]
    return tl.load(x0 + 2 * (start[:, None] + (j * inner)[None, :]), mask=mask, other=other)


@triton.jit
def imaginary_tile(x0, start, j, end, inner, there, other):
    return real_tile(x0 + 1, start, j, end, inner, there, other)


@triton.jit
def magnitudes(x0, start, j, end, inner, there, other):
    return libdevice.hypot(
        real_tile(x0, start, j, end, inner, there, other), imaginary_tile(x0, start, j, end, inner, there, other)
    )


@triton.jit
def truth(x0, start, j, end, inner, there, other):
    """Whether elements are not zero."""
    real = real_tile(x0, start, j, end, inner, there, other)
    return ((real != 0) | (imaginary_tile(x0, start, j, end, inner, there, other) != 0)).to(tl.int32)


@complex_kernel("all.all")
def all(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, 1.0, truth, both, ROWS, BLOCK), 1, both)
    put_piece(y0, piece, y != 0, outer, inner, pieces, ROWS)


@complex_kernel("any.any")
def any(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    y = tl.reduce(folded(x0, n, outer, inner, chunk, 0.0, truth, either, ROWS, BLOCK), 1, either)
    put_piece(y0, piece, y != 0, outer, inner, pieces, ROWS)


@triton.jit
def put_pairs(y0, a, b, outer, inner, ROWS: tl.constexpr):
    """As `put`, of both parts."""
    row, there = rows_of(outer, inner, ROWS)
    place = y0 + 2 * (tl.program_id(1).to(tl.int64) * outer * inner + row)
    tl.store(place, a.to(y0.dtype.element_ty), mask=there)
    tl.store(place + 1, b.to(y0.dtype.element_ty), mask=there)


@triton.jit
def put_piece_of_pairs(y0, piece, a, b, outer, inner, pieces, ROWS: tl.constexpr):
    if pieces > 1:
        put_pairs(piece, a, b, outer, inner, ROWS)
    else:
        put_pairs(y0, a, b, outer, inner, ROWS)


@triton.jit
def product(x0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    first, end = piece_of(n, chunk)
    j = first + tl.arange(0, BLOCK)
    a = real_tile(x0, start, j, end, inner, there, 1.0)
    b = imaginary_tile(x0, start, j, end, inner, there, 0.0)
    for _ in range(first + BLOCK, end, BLOCK):
        j += BLOCK
        c = real_tile(x0, start, j, end, inner, there, 1.0)
        a, b = mul(a, b, c, imaginary_tile(x0, start, j, end, inner, there, 0.0))
    return tl.reduce((a, b), 1, mul)


@complex_kernel("prod.prod")
def prod(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    a, b = product(x0, n, outer, inner, chunk, ROWS, BLOCK)
    put_piece_of_pairs(y0, piece, a, b, outer, inner, pieces, ROWS)


@complex_kernel("prod.prod_of_pieces")
def prod_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    a, b = product(piece, pieces, 1, rows, pieces, ROWS, BLOCK)
    put_pairs(y0, a, b, 1, rows, ROWS)


@complex_kernel("var.spread", "std.spread")
def spread(
    x0, y0, found, n, outer, inner, chunk, pieces, correction,
    ROOT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Both parts' squares together."""
    near, above, squares = moments(x0, n, outer, inner, chunk, real_tile, ROWS, BLOCK)
    beside, higher, more = moments(x0, n, outer, inner, chunk, imaginary_tile, ROWS, BLOCK)
    if pieces > 1:
        put_moments(found, near, above, squares, outer, inner, pieces, ROWS)
        put_moments(found + 3 * pieces * outer * inner, beside, higher, more, outer, inner, pieces, ROWS)
    else:
        put(y0, deviation(squares + more, n, correction, ROOT), outer, inner, ROWS)


@complex_kernel("vector_norm.vector_norm")
def vector_norm(x0, y0, piece, n, outer, inner, chunk, pieces, p, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put_norm(y0, piece, powers(x0, n, outer, inner, chunk, p, magnitudes, ROWS, BLOCK), outer, inner, pieces, p, ROWS)


@triton.jit
def log_of_sum(x0, n, outer, inner, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    real = folded(x0, n, outer, inner, chunk, -float("inf"), real_tile, above, ROWS, BLOCK)
    top = tl.reduce(real, 1, above)
    shift = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    a, b = tl.zeros((ROWS, BLOCK), top.dtype), tl.zeros((ROWS, BLOCK), top.dtype)
    first, end = piece_of(n, chunk)
    for block in range(first, end, BLOCK):
        j = block + tl.arange(0, BLOCK).to(tl.int64)
        r = libdevice.exp(real_tile(x0, start, j, end, inner, there, -float("inf")) - shift[:, None])
        angle = imaginary_tile(x0, start, j, end, inner, there, 0.0)
        a += r * libdevice.cos(angle)
        b += r * libdevice.sin(angle)
    a, b = log(tl.sum(a, 1), tl.sum(b, 1))
    return shift + a, b


@complex_kernel("logsumexp.logsumexp")
def logsumexp(x0, y0, piece, n, outer, inner, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    a, b = log_of_sum(x0, n, outer, inner, chunk, ROWS, BLOCK)
    put_piece_of_pairs(y0, piece, a, b, outer, inner, pieces, ROWS)


@complex_kernel("logsumexp.logsumexp_of_pieces")
def logsumexp_of_pieces(y0, piece, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    a, b = log_of_sum(piece, pieces, 1, rows, pieces, ROWS, BLOCK)
    put_pairs(y0, a, b, 1, rows, ROWS)


@triton.jit
def above(a, b):
    """The larger one; of NaN and a number, the number."""
    return tl.where((b != b) | (a > b), a, b)


@triton.jit
def load_pairs(x0, at, inside, a):
    """Elements as two parts; those that are not there are the real number a."""
    return tl.load(x0 + 2 * at, mask=inside, other=a), tl.load(x0 + 2 * at + 1, mask=inside, other=0.0)


@triton.jit
def store_pairs(y0, at, a, b, inside):
    tl.store(y0 + 2 * at, a.to(y0.dtype.element_ty), mask=inside)
    tl.store(y0 + 2 * at + 1, b.to(y0.dtype.element_ty), mask=inside)


@complex_kernel("cumprod.cumprod")
def cumprod(x0, y0, totals, n, outer, inner, chunk, pieces, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    a, b = tl.full((ROWS,), 1, x0.dtype.element_ty), tl.zeros((ROWS,), x0.dtype.element_ty)
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        c, d = load_pairs(x0, at, inside, 1.0)
        c, d = tl.associative_scan((c, d), 1, mul)
        c, d = mul(a[:, None], b[:, None], c, d)
        store_pairs(y0, at, c, d, inside)
        a, b = last_of(c, BLOCK), last_of(d, BLOCK)


@triton.jit
def log_plus(top, a, b, other, c, d):
    """The sum of (a + b i) e^top and (c + d i) e^other, as a multiple of the larger power."""
    high = tl.where(top < other, other, top)
    left = tl.where(top == high, 1.0, libdevice.exp(top - high))
    right = tl.where(other == high, 1.0, libdevice.exp(other - high))
    return high, a * left + c * right, b * left + d * right


@complex_kernel()
def logcumsumexp(x0, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    top = tl.full((ROWS,), -float("inf"), x0.dtype.element_ty)
    a, b = tl.zeros((ROWS,), x0.dtype.element_ty), tl.zeros((ROWS,), x0.dtype.element_ty)
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        x, angle = load_pairs(x0, at, inside, -float("inf"))
        none = x == -float("inf")
        c = tl.where(none, 0.0, libdevice.cos(angle))
        d = tl.where(none, 0.0, libdevice.sin(angle))
        x, c, d = tl.associative_scan((x, c, d), 1, log_plus)
        zero = tl.zeros_like(x)
        x, c, d = log_plus(top[:, None] + zero, a[:, None] + zero, b[:, None] + zero, x, c, d)
        e, f = log(c, d)
        nothing = (c == 0) & (d == 0)
        store_pairs(y0, at, tl.where(nothing, x, x + e), tl.where(nothing, 0.0, f), inside)
        top, a, b = last_of(x, BLOCK), last_of(c, BLOCK), last_of(d, BLOCK)


@triton.jit
def step_after(a, b, x, y, c, d, z, w):
    """One step of a recurrence, and then another one."""
    e, f = mul(a, b, c, d)
    p, q = mul(c, d, x, y)
    return e, f, p + z, q + w


@complex_kernel()
def linear_recurrence(x0, x1, y0, n, outer, inner, REVERSE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    a, b = tl.zeros((ROWS,), x0.dtype.element_ty), tl.zeros((ROWS,), x0.dtype.element_ty)
    for first in range(0, n, BLOCK):
        at, inside = along_lines(first, n, outer, inner, REVERSE, ROWS, BLOCK)
        p, q = load_pairs(x0, at, inside, 1.0)
        later = (first + tl.arange(0, BLOCK) > 0)[None, :]  # nothing stands before the first
        x, y = load_pairs(x1, at, inside, 0.0)
        p, q, x, y = tl.associative_scan((tl.where(later, p, 0.0), tl.where(later, q, 0.0), x, y), 1, step_after)
        p, q = mul(p, q, a[:, None], b[:, None])
        x, y = x + p, y + q
        store_pairs(y0, at, x, y, inside)
        a, b = last_of(x, BLOCK), last_of(y, BLOCK)


@complex_kernel()
def scatter_reduce(x1, x2, y0, n, outer, inner, m, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """Products alone: complex numbers have no order."""
    tl.static_assert(HOW == 2)
    line, there = lanes(outer * inner, BLOCK)
    for j in range(0, m):
        source = (line // inner * m + j) * inner + line % inner
        at, inside = position(x1, source, n, there)
        place = (line // inner * n + at) * inner + line % inner
        a, b = load_pairs(y0, place, inside, 1.0)
        c, d = load_pairs(x2, source, inside, 1.0)
        a, b = mul(a, b, c, d)
        store_pairs(y0, place, a, b, inside)
        tl.debug_barrier()  # as in `combined`


@complex_kernel("matmul.tile_products")
def tile_products(
    x0, x1, y0, left, right, partial, M, N, K, chunk, count, batch0, batch1, am, ak, a0, a1, a2, bk, bn, b0, b1, b2,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TF32: tl.constexpr, EVEN: tl.constexpr, WHOLE: tl.constexpr,
    PARTS: tl.constexpr, TURN_A: tl.constexpr, TURN_B: tl.constexpr,
):  # fmt: skip
    """Sums over twice as many real numbers: of (a, b) times (c, -d), and of (a, b) times (d, c)."""
    batch, tile_m, tile_n = tile_of(M, N, BM, BN)
    a0, b0 = origins(batch, batch0, batch1, a0, a1, a2, b0, b1, b2)
    m = tile_m.to(tl.int64) * BM + tl.arange(0, BM)
    n = tile_n.to(tl.int64) * BN + tl.arange(0, BN)
    part = tl.arange(0, BK) % 2
    k = tl.arange(0, BK) // 2
    x = x0 + 2 * (a0 + m[:, None] * am) + (2 * k * tl.cast(ak, tl.int64) + part)[None, :]
    y = x1 + 2 * (b0 + n[None, :] * bn) + (2 * k * tl.cast(bk, tl.int64))[:, None]
    wide: tl.constexpr = x0.dtype.element_ty
    real, imaginary = tl.zeros((BM, BN), wide), tl.zeros((BM, BN), wide)
    for first in range(0, K, BK // 2):
        here = (m < M)[:, None] & (k + first < K)[None, :]
        there = (k + first < K)[:, None] & (n < N)[None, :]
        a = tl.load(x, mask=here, other=0.0)
        c = tl.load(y + part[:, None], mask=there, other=0.0)
        real = tl.dot(a, tl.where(part[:, None] == 1, -c, c), real, input_precision="ieee", out_dtype=wide)
        d = tl.load(y + (1 - part)[:, None], mask=there, other=0.0)
        imaginary = tl.dot(a, d, imaginary, input_precision="ieee", out_dtype=wide)
        x += tl.cast(ak, tl.int64) * BK
        y += tl.cast(bk, tl.int64) * BK
    store_pairs(y0, batch * M * N + m[:, None] * N + n[None, :], real, imaginary, (m < M)[:, None] & (n < N)[None, :])
