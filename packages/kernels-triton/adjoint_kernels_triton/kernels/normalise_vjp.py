"""Derivatives of softmax and of standardised values: sums over each row of cotangents, then the row again, which a program
holds unless it is long."""

from dataclasses import replace

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel, sequence, step
from .._templates import widened
from .conv_weight import added_up
from .normalise import WHOLE_ROWS, WITH_INPUTS, parameter, put_tile
from .reduce import rows_of, starts, tile


@triton.jit
def both_tiles(x0, x1, start, j, n, inner, there):
    return tile(x0, start, j, n, inner, there, 0.0), tile(x1, start, j, n, inner, there, 0.0)


@kernel(along="dim", **WHOLE_ROWS)
def softmax_vjp(x0, x1, y0, n, outer, inner, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start, j = starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64)
    end = BLOCK if WHOLE else n
    v, y = both_tiles(x0, x1, start, j, n, inner, there)
    products = v * y
    for first in range(BLOCK, end, BLOCK):
        w, z = both_tiles(x0, x1, start, first + j, n, inner, there)
        products += w * z
    total = tl.sum(products, 1)[:, None]
    put_tile(y0, start, j, n, inner, there, y * (v - total))
    for first in range(BLOCK, end, BLOCK):
        w, z = both_tiles(x0, x1, start, first + j, n, inner, there)
        put_tile(y0, start, first + j, n, inner, there, z * (w - total))


@kernel(along="dim", **WHOLE_ROWS)
def log_softmax_vjp(x0, x1, y0, n, outer, inner, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start, j = starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64)
    end = BLOCK if WHOLE else n
    v, y = both_tiles(x0, x1, start, j, n, inner, there)
    sums = v
    for first in range(BLOCK, end, BLOCK):
        sums += tile(x0, start, first + j, n, inner, there, 0.0)
    total = tl.sum(sums, 1)[:, None]
    put_tile(y0, start, j, n, inner, there, v - libdevice.exp(y) * total)
    for first in range(BLOCK, end, BLOCK):
        w, z = both_tiles(x0, x1, start, first + j, n, inner, there)
        put_tile(y0, start, first + j, n, inner, there, w - libdevice.exp(z) * total)


@kernel(along="dim", **WHOLE_ROWS)
def layer_norm_vjp(x0, x1, x2, y0, n, outer, inner, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start, j = starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64)
    end = BLOCK if WHOLE else n
    scale = widened(tl.load(x2 + row, mask=there, other=0.0))[:, None]
    g, z = both_tiles(x0, x1, start, j, n, inner, there)
    total = g
    product = g * z
    for first in range(BLOCK, end, BLOCK):
        h, w = both_tiles(x0, x1, start, first + j, n, inner, there)
        total += h
        product += h * w
    mean, slope = (tl.sum(total, 1) / n)[:, None], (tl.sum(product, 1) / n)[:, None]
    put_tile(y0, start, j, n, inner, there, scale * (g - mean - z * slope))
    for first in range(BLOCK, end, BLOCK):
        h, w = both_tiles(x0, x1, start, first + j, n, inner, there)
        put_tile(y0, start, first + j, n, inner, there, scale * (h - mean - w * slope))


@triton.jit
def standard(x0, x1, x4, start, j, n, inner, there, centre, scale, WEIGHT: tl.constexpr):
    """Cotangents of what is standardised, and that."""
    v, x = both_tiles(x0, x1, start, j, n, inner, there)
    return v * parameter(x4, j, n, 1.0, WEIGHT), (x - centre) * scale


@step(**WITH_INPUTS, when="1 - sums")
def standardise_vjp(
    x0, x1, x2, x3, x4, y0, n, outer, inner, eps, centred,
    WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    """From v, x, the means and squares of rows, and a weight: of layer_norm, and where x is not centred, of rms_norm."""
    row, there = rows_of(outer, inner, ROWS)
    start, j = starts(row, n, inner), tl.arange(0, BLOCK).to(tl.int64)
    end = BLOCK if WHOLE else n
    square = tl.load(x3 + row, mask=there, other=1.0)
    scale = (1.0 / libdevice.sqrt_rn(square + eps.to(square.dtype)))[:, None]
    centre = tl.where(centred != 0, tl.load(x2 + row, mask=there, other=0.0), 0.0)[:, None]
    g, z = standard(x0, x1, x4, start, j, n, inner, there, centre, scale, INPUTS > 4)
    total = g
    product = g * z
    for first in range(BLOCK, end, BLOCK):
        h, w = standard(x0, x1, x4, start, first + j, n, inner, there, centre, scale, INPUTS > 4)
        total += h
        product += h * w
    mean = tl.where(centred != 0, tl.sum(total, 1) / n, 0.0)[:, None]
    slope = (tl.sum(product, 1) / n)[:, None]
    put_tile(y0, start, j, n, inner, there, scale * (g - mean - z * slope))
    for first in range(BLOCK, end, BLOCK):
        h, w = standard(x0, x1, x4, start, first + j, n, inner, there, centre, scale, INPUTS > 4)
        put_tile(y0, start, first + j, n, inner, there, scale * (h - mean - w * slope))


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
