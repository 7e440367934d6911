"""Derivatives of softmax and of standardised values: sums over each row of cotangents, then the row again, which a program
holds unless it is long."""

from dataclasses import replace

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import Step, kernel, sequence, step
from .._templates import widened
from .conv_weight import added_up
from .normalise import IN_PIECES, WHOLE_ROWS, WITH_INPUTS, parameter, put_tile
from .pieces import CHUNK, COUNT, JOINED, room
from .reduce import GRID, TILE, folded, piece_of, plus, put, rows_of, starts, tile


@triton.jit
def both_tiles(x0, x1, start, j, end, inner, there):
    return tile(x0, start, j, end, inner, there, 0.0), tile(x1, start, j, end, inner, there, 0.0)


# ---- softmax: the products of cotangents and results, or of the logarithm the cotangents, are summed up


@triton.jit
def summand(v, y, LOG: tl.constexpr):
    return v if LOG else v * y


@triton.jit
def from_total(v, y, total, LOG: tl.constexpr):
    return v - libdevice.exp(y) * total if LOG else y * (v - total)


@triton.jit
def soften_vjp(
    x0, x1, y0, joint, n, outer, inner, chunk,
    LOG: tl.constexpr, JOINT: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """JOINT: of pieces, whose sums are joined."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    begin, end = piece_of(n, chunk)
    j = begin + tl.arange(0, BLOCK)
    v, y = both_tiles(x0, x1, start, j, end, inner, there)
    last = BLOCK if WHOLE else end - begin
    if JOINT:
        total = tl.load(joint + row, mask=there, other=0.0)[:, None]
    else:
        sums = summand(v, y, LOG)
        for first in range(BLOCK, last, BLOCK):
            w, z = both_tiles(x0, x1, start, first + j, end, inner, there)
            sums += summand(w, z, LOG)
        total = tl.sum(sums, 1)[:, None]
    put_tile(y0, start, j, end, inner, there, from_total(v, y, total, LOG))
    for first in range(BLOCK, last, BLOCK):
        w, z = both_tiles(x0, x1, start, first + j, end, inner, there)
        put_tile(y0, start, first + j, end, inner, there, from_total(w, z, total, LOG))


def sum_of_piece(x0, x1, piece, n, outer, inner, chunk, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    begin, end = piece_of(n, chunk)
    sums = tl.zeros((ROWS, BLOCK), piece.dtype.element_ty)
    for first in range(begin, end, BLOCK):
        v, y = both_tiles(x0, x1, start, first + tl.arange(0, BLOCK), end, inner, there)
        sums += summand(v, y, LOG)
    put(piece, tl.sum(sums, 1), outer, inner, ROWS)


@step(**JOINED)
def joined_sums(piece, joint, rows, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    put(joint, tl.reduce(folded(piece, pieces, 1, rows, pieces, 0.0, tile, plus, ROWS, BLOCK), 1, plus), 1, rows, ROWS)


@step(**IN_PIECES)
def softmax_vjp(
    x0, x1, y0, joint, n, outer, inner, chunk,
    JOINT: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    soften_vjp(x0, x1, y0, joint, n, outer, inner, chunk, False, JOINT, WHOLE, ROWS, BLOCK)


@step(**IN_PIECES)
def log_softmax_vjp(
    x0, x1, y0, joint, n, outer, inner, chunk,
    JOINT: tl.constexpr, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    soften_vjp(x0, x1, y0, joint, n, outer, inner, chunk, True, JOINT, WHOLE, ROWS, BLOCK)


def after_sums(last: Step, log: int) -> list[Step]:
    first = step(grid=(GRID, COUNT), constants={**TILE, "LOG": log}, values={"chunk": CHUNK}, when=f"1 < {COUNT}")
    return [first(sum_of_piece), joined_sums, last]


JOINT = {"piece": ("widened(x0)", room()), "joint": ("widened(x0)", f"outer * inner if 1 < {COUNT} else 0")}
sequence("softmax_vjp", along="dim", steps=after_sums(softmax_vjp, 0), workspace=JOINT)
sequence("log_softmax_vjp", along="dim", steps=after_sums(log_softmax_vjp, 1), workspace=JOINT)


# ---- what is standardised


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
