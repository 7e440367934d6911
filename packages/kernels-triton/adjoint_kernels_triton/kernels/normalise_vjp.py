"""Derivatives of softmax and of standardised values: sums over each row of cotangents, then the row again."""

from dataclasses import replace

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel, sequence, step
from .._templates import widened
from .conv_weight import added_up
from .normalise import ONE_TILE, parameter, put_tile
from .reduce import GRID, TILE, folded, plus, rows_of, starts, tile


@triton.jit
def products(x0, x1, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum over each row of what two operands give multiplied."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    j = tl.arange(0, BLOCK).to(tl.int64)
    total = tile(x0, start, j, n, inner, there, 0.0) * tile(x1, start, j, n, inner, there, 0.0)
    for _ in range(BLOCK, n, BLOCK):
        j += BLOCK
        total += tile(x0, start, j, n, inner, there, 0.0) * tile(x1, start, j, n, inner, there, 0.0)
    return tl.sum(total, 1)


@triton.jit
def sums(x0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    return tl.reduce(folded(x0, n, outer, inner, n, 0.0, tile, plus, ROWS, BLOCK), 1, plus)


@kernel(along="dim", grid=GRID, constants=TILE)
def softmax_vjp(x0, x1, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    total = products(x0, x1, n, outer, inner, ROWS, BLOCK)[:, None]
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        v, y = tile(x0, start, j, n, inner, there, 0.0), tile(x1, start, j, n, inner, there, 0.0)
        put_tile(y0, start, j, n, inner, there, y * (v - total))


@kernel(along="dim", grid=GRID, constants=TILE)
def log_softmax_vjp(x0, x1, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    total = sums(x0, n, outer, inner, ROWS, BLOCK)[:, None]
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        v, y = tile(x0, start, j, n, inner, there, 0.0), tile(x1, start, j, n, inner, there, 0.0)
        put_tile(y0, start, j, n, inner, there, v - libdevice.exp(y) * total)


@kernel(along="dim", grid=GRID, constants=TILE)
def layer_norm_vjp(x0, x1, x2, y0, n, outer, inner, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    mean = (sums(x0, n, outer, inner, ROWS, BLOCK) / n)[:, None]
    slope = (products(x0, x1, n, outer, inner, ROWS, BLOCK) / n)[:, None]
    scale = widened(tl.load(x2 + row, mask=there, other=0.0))[:, None]
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        g, z = tile(x0, start, j, n, inner, there, 0.0), tile(x1, start, j, n, inner, there, 0.0)
        put_tile(y0, start, j, n, inner, there, scale * (g - mean - z * slope))


@step(grid=GRID, constants=ONE_TILE, when="1 - sums")
def standardise_vjp(
    x0, x1, x2, x3, x4, y0, n, outer, inner, eps, centred, ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr
):
    """From v, x, the means and squares of rows, and a weight: of layer_norm, and where x is not centred, of rms_norm."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    square = tl.load(x3 + row, mask=there, other=1.0)
    scale = (1.0 / libdevice.sqrt_rn(square + eps.to(square.dtype)))[:, None]
    centre = tl.where(centred != 0, tl.load(x2 + row, mask=there, other=0.0), 0.0)[:, None]
    total = tl.zeros((ROWS, BLOCK), square.dtype)
    product = tl.zeros((ROWS, BLOCK), square.dtype)
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        g = tile(x0, start, j, n, inner, there, 0.0) * parameter(x4, j, n, 1.0, INPUTS > 4)
        z = (tile(x1, start, j, n, inner, there, 0.0) - centre) * scale
        total += g
        product += g * z
    mean = tl.where(centred != 0, tl.sum(total, 1) / n, 0.0)[:, None]
    slope = (tl.sum(product, 1) / n)[:, None]
    for first in range(0, n, BLOCK):
        j = first + tl.arange(0, BLOCK).to(tl.int64)
        g = tile(x0, start, j, n, inner, there, 0.0) * parameter(x4, j, n, 1.0, INPUTS > 4)
        z = (tile(x1, start, j, n, inner, there, 0.0) - centre) * scale
        put_tile(y0, start, j, n, inner, there, scale * (g - mean - z * slope))


CHUNKS = "max(1, min(outer // 128, cdiv(512, cdiv(n, 64))))"


@step(
    grid=("cdiv(n, COLUMNS)", CHUNKS), values={"chunk": f"cdiv(outer, {CHUNKS})"}, when="sums",
    constants={"ROWS": 32, "COLUMNS": "min(next_pow2(n), 64)"},
)  # fmt: skip
def weight_sums(x0, x1, x2, x3, sums, n, outer, chunk, eps, centred, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """What the weight gets, of a chunk of rows."""
    j = tl.program_id(0).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    first = tl.program_id(1).to(tl.int64) * chunk
    last = tl.minimum(first + chunk, outer)
    total = tl.zeros((ROWS, COLUMNS), sums.dtype.element_ty)
    for start in range(first, last, ROWS):
        row = start + tl.arange(0, ROWS)
        there = row < last
        square = tl.load(x3 + row, mask=there, other=1.0)
        scale = 1.0 / libdevice.sqrt_rn(square + eps.to(square.dtype))
        centre = tl.where(centred != 0, tl.load(x2 + row, mask=there, other=0.0), 0.0)[:, None]
        v = tile(x0, row * n, j, n, 1, there, 0.0)
        total += v * ((tile(x1, row * n, j, n, 1, there, 0.0) - centre) * scale[:, None])
    tl.store(sums + tl.program_id(1) * tl.cast(n, tl.int64) + j, tl.sum(total, 0), mask=j < n)


sequence(
    "standardise_vjp", along="dim", workspace={"sums": ("widened(x0)", f"sums * n * ({CHUNKS})")},
    steps=[standardise_vjp, weight_sums, replace(added_up, when="sums", values={"chunks": CHUNKS, "count": "n"})],
)  # fmt: skip
