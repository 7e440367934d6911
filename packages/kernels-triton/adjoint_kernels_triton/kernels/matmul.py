"""Products of matrices: a program computes a tile of one product; operands are read where they lie, transposed or broadcast.

Where there are few tiles, and K is long, programs share it: each sums a part of it, and `join` adds the parts, in their order. A product
with one row or column is as fast as memory is read, and has a kernel of its own. Large operands that lie across the way in which a
kernel reads them fast are turned first.
"""

import triton
import triton.language as tl

from .._structured import sequence, step

TYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64")
# What formulas may name. Strides of a dimension of size 1 are 0.
NAMES = {
    "M": "size(x0, -2)", "N": "size(x1, -1)", "K": "size(x0, -1)", "batch": "numel(y0) // max(M * N, 1)",
    "am": "stride(x0, -2)", "ak": "stride(x0, -1)", "a0": "stride(x0, -3)", "a1": "stride(x0, -4)", "a2": "stride(x0, -5)",
    "bk": "stride(x1, -2)", "bn": "stride(x1, -1)", "b0": "stride(x1, -3)", "b1": "stride(x1, -4)", "b2": "stride(x1, -5)",
    "batch1": "size(y0, -4)", "batch0": "size(y0, -3)",
    "thin": "floating(x0) * (min(M, N) == 1)",
    # of a product with one row or column, in which the matrix has `lines`
    "lines": "max(M, N)", "line": "am if N == 1 else bn", "along": "ak if N == 1 else bk", "other": "bk if N == 1 else ak",
    "across": "(line == 1) * (1 < along)",  # lines are neighbours in memory
    "width": "min(16 if across else 1024, next_pow2(K))",
    "height": "min(max(2048 // width, 4), next_pow2(lines))",
    # of the others: tiles are smaller where there would be fewer than a large GPU has multiprocessors
    "side": "(64 if numel(y0) < 128 * 128 * 128 else 128) if (itemsize(x0) < 4) + rounded else 64 if itemsize(x0) * parts(x0) < 16 else 32",
    # over how many programs the sum is parted, where there are few results
    "lines_parted": "min(512 // max(numel(y0) // (128 if across else 4), 1), K // (64 if across else 4096))",
    "parted": "max(lines_parted if thin else min(128 // max(numel(y0) // 4096, 1), K // 512) * floating(x0), 1)",
    "rounded": "tf32 * (itemsize(x0) == 4)",
    "large": "(itemsize(x0) == 4) * floating(x0) * (numel(y0) == M * N) * (1 < M) * ((1 << 26) < K * numel(y0))",
    # tensor cores take float32 along K alone; what computes it exactly wants the right one along N
    "turn_a": "large * rounded * (am == 1) * (1 < ak)",
    "turn_b": "large * (rounded * (bn == 1) * (1 < bk) + 2 * (1 - rounded) * (bk == 1) * (1 < bn))",
    "rows": "N if turn_b == 1 else K", "columns": "K if turn_b == 1 else N",
}  # fmt: skip
WORKSPACE = {
    "left": ("x0", "turn_a * M * K"),
    "right": ("x1", "min(turn_b, 1) * N * K"),
    "partial": ("widened(x0)", "(1 < parted) * parted * numel(y0)"),
}


@triton.jit
def tile_of(M, N, BM: tl.constexpr, BN: tl.constexpr):
    """The product of the batch and the tile of it of this program: down groups of eight, so that neighbours in time share operands in the
    cache. Only the first axis of a grid has room for large batches."""
    down = tl.cdiv(M, BM)
    across = tl.cdiv(N, BN)
    program = tl.program_id(0) % (down * across)
    group = program // (8 * across)
    height = tl.minimum(down - group * 8, 8)
    inside = program % (8 * across)
    return (tl.program_id(0) // (down * across)).to(tl.int64), group * 8 + inside % height, inside // height


@triton.jit
def origins(batch, batch0, batch1, a0, a1, a2, b0, b1, b2):
    """Where the operands of a product of the batch start."""
    i0 = batch % batch0
    i1 = batch // batch0 % batch1
    i2 = batch // batch0 // batch1
    return i0 * a0 + i1 * a1 + i2 * a2, i0 * b0 + i1 * b1 + i2 * b2


@triton.jit
def whole_product(a, b, rows, columns, K, ak, bk, BM: tl.constexpr, BN: tl.constexpr):
    """Of integers, which wrap: a column times a row after another, as `tl.dot` has none of their sizes."""
    wide: tl.constexpr = tl.int64 if a.dtype.element_ty == tl.int64 else tl.int32
    total = tl.zeros((BM, BN), wide)
    for _ in range(0, K):
        total += tl.load(a, mask=rows, other=0).to(wide)[:, None] * tl.load(b, mask=columns, other=0).to(wide)[None, :]
        a += ak
        b += bk
    return total


@triton.jit
def turn(x, y, rows, columns, down, right, SIDE: tl.constexpr):
    """y, row-major, from x, whose strides are (down, right)."""
    across = tl.cdiv(columns, SIDE)
    r = (tl.program_id(0) // across).to(tl.int64) * SIDE + tl.arange(0, SIDE)
    c = (tl.program_id(0) % across).to(tl.int64) * SIDE + tl.arange(0, SIDE)
    inside = (r < rows)[:, None] & (c < columns)[None, :]
    tl.store(
        y + r[:, None] * columns + c[None, :], tl.load(x + r[:, None] * down + c[None, :] * right, mask=inside), mask=inside
    )


@step(grid="cdiv(M, SIDE) * cdiv(K, SIDE)", constants={"SIDE": 64}, when="turn_a")
def turn_left(x0, left, M, K, am, ak, SIDE: tl.constexpr):
    turn(x0, left, M, K, am, ak, SIDE)


@step(
    grid="cdiv(rows, SIDE) * cdiv(columns, SIDE)",
    values={"down": "bn if turn_b == 1 else bk", "apart": "bk if turn_b == 1 else bn"},
    constants={"SIDE": 64},
    when="turn_b",
)  # fmt: skip
def turn_right(x1, right, rows, columns, down, apart, SIDE: tl.constexpr):
    turn(x1, right, rows, columns, down, apart, SIDE)


@triton.jit
def put(y0, partial, at, y, inside, count, PARTS: tl.constexpr):
    """Results, or this program's part of them."""
    if PARTS > 1:
        tl.store(partial + tl.program_id(1).to(tl.int64) * count + at, y, mask=inside)
    else:
        tl.store(y0 + at, y.to(y0.dtype.element_ty), mask=inside)


@step(
    grid=("cdiv(lines, ROWS) * batch", "PARTS"),
    values={"chunk": "cdiv(K, PARTS)", "count": "numel(y0)"},
    constants={"COLUMN": "N == 1", "PARTS": "parted", "ROWS": "height", "BLOCK": "width"},
    dtypes=TYPES,
    when="thin",
)  # fmt: skip
def line_products(
    x0, x1, y0, partial, lines, K, chunk, count, batch0, batch1, line, along, other, a0, a1, a2, b0, b1, b2,
    COLUMN: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A matrix times a column, or a row times a matrix."""
    blocks = tl.cdiv(lines, ROWS)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    a, b = origins(batch, batch0, batch1, a0, a1, a2, b0, b1, b2)
    if COLUMN:
        matrix, vector = x0 + a, x1 + b
    else:
        matrix, vector = x1 + b, x0 + a
    wide: tl.constexpr = tl.float64 if x0.dtype.element_ty == tl.float64 else tl.float32
    i = (tl.program_id(0) % blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1).to(tl.int64) * chunk
    end = tl.minimum(first + chunk, K)
    k = first + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), wide)
    for _ in range(first, end, BLOCK):
        x = tl.load(matrix + i[:, None] * line + k[None, :] * along, mask=(i < lines)[:, None] & (k < end)[None, :], other=0.0)
        total += x.to(wide) * tl.load(vector + k * other, mask=k < end, other=0.0).to(wide)[None, :]
        k += BLOCK
    put(y0, partial, batch * lines + i, tl.sum(total, 1), i < lines, count, PARTS)


@triton.jit
def operand(x, line, along, EVEN: tl.constexpr, WHOLE: tl.constexpr):
    """A tile of an operand: of its lines those that there are, unless WHOLE says that all are, and of its elements along K, unless EVEN."""
    if EVEN:
        return tl.load(x) if WHOLE else tl.load(x, mask=line, other=0.0)
    else:
        return tl.load(x, mask=line & along, other=0.0)


@step(
    grid=("cdiv(M, BM) * cdiv(N, BN) * batch", "PARTS"),
    values={"chunk": "cdiv(cdiv(K, PARTS), 64) * 64", "count": "numel(y0)"},
    constants={
        "BM": "max(min(side, next_pow2(M)), 16)", "BN": "max(min(side, next_pow2(N)), 16)", "BK": "64 if itemsize(x0) < 4 else 32 if itemsize(x0) < 8 else 16",
        "TF32": "rounded", "EVEN": "K % BK == 0", "WHOLE": "M % BM + N % BN == 0", "PARTS": "parted", "TURN_A": "turn_a", "TURN_B": "turn_b",
    },
    dtypes=TYPES,
    when="1 - thin",
)  # fmt: skip
def tile_products(
    x0, x1, y0, left, right, partial, M, N, K, chunk, count, batch0, batch1, am, ak, a0, a1, a2, bk, bn, b0, b1, b2,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TF32: tl.constexpr, EVEN: tl.constexpr, WHOLE: tl.constexpr,
    PARTS: tl.constexpr, TURN_A: tl.constexpr, TURN_B: tl.constexpr,
):  # fmt: skip
    batch, tile_m, tile_n = tile_of(M, N, BM, BN)
    a0, b0 = origins(batch, batch0, batch1, a0, a1, a2, b0, b1, b2)
    m = tile_m.to(tl.int64) * BM + tl.arange(0, BM)
    n = tile_n.to(tl.int64) * BN + tl.arange(0, BN)
    first = tl.program_id(1).to(tl.int64) * chunk
    end = tl.minimum(first + chunk, K)
    row, column, k = m[:, None], n[None, :], tl.arange(0, BK)
    if TURN_A:
        a, am, ak = left + row * K, K, 1
    else:
        a = x0 + a0 + row * am
    if TURN_B == 1:
        b, bk = right + column * K, 1
    elif TURN_B == 2:
        b, bk = right + column, N
    else:
        b = x1 + b0 + column * bn
    if x0.dtype.element_ty.is_floating():
        wide: tl.constexpr = tl.float64 if x0.dtype.element_ty == tl.float64 else tl.float32
        precision: tl.constexpr = "tf32" if TF32 else "ieee"
        a += (first + k)[None, :] * ak
        b += (first + k)[:, None] * bk
        total = tl.zeros((BM, BN), wide)
        for at in range(first, end, BK):
            x = operand(a, row < M, (at + k < end)[None, :], EVEN, WHOLE)
            y = operand(b, column < N, (at + k < end)[:, None], EVEN, WHOLE)
            total = tl.dot(x, y, total, input_precision=precision, out_dtype=wide)
            a += tl.cast(ak, tl.int64) * BK
            b += tl.cast(bk, tl.int64) * BK
    else:
        total = whole_product(x0 + a0 + m * am, x1 + b0 + n * bn, m < M, n < N, K, ak, bk, BM, BN)
    put(y0, partial, batch * M * N + row * N + column, total, (row < M) & (column < N), count, PARTS)


@step(
    grid="cdiv(numel(y0), ROWS)",
    values={"count": "numel(y0)", "parts": "parted"},
    constants={"PARTS": "next_pow2(parted)", "ROWS": "min(next_pow2(numel(y0)), max(1, 2048 // PARTS))"},
    when="1 < parted",
)
def join(partial, y0, parts, count, PARTS: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    p = tl.arange(0, PARTS)
    y = tl.load(
        partial + p[None, :].to(tl.int64) * count + i[:, None], mask=(i < count)[:, None] & (p < parts)[None, :], other=0.0
    )
    tl.store(y0 + i, tl.sum(y, 1).to(y0.dtype.element_ty), mask=i < count)


sequence(
    "matmul",
    steps=[turn_left, turn_right, line_products, tile_products, join],
    workspace=WORKSPACE,
    where=NAMES,
    strided=True,
    dims=5,
)
