"""Cross-entropy of classes and its derivative: a row is read, and no probabilities are written but as part of the cotangent."""

import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened
from .normalise import WHOLE_ROWS, exponentials, put_row, put_tile
from .reduce import GRID, TILE, rows_of, starts, tile


@kernel(along="dim", **WHOLE_ROWS, values={"ignored": "ignore_index"})
def cross_entropy(
    x0, x1, y0, y1, y2, n, outer, inner, ignored,
    WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of a class that there is not: NaN."""
    row, there = rows_of(outer, inner, ROWS)
    top, total = exponentials(x0, n, outer, inner, n, WHOLE, ROWS, BLOCK)
    wanted = tl.load(x1 + row, mask=there, other=0)
    known = there & (wanted >= 0) & (wanted < n)
    x = widened(tl.load(x0 + starts(row, n, inner) + wanted * inner, mask=known, other=float("nan")))
    logarithm = libdevice.log(total)
    put_row(y0, tl.where(wanted == ignored, 0.0, logarithm - (x - top)), outer, inner, ROWS)
    put_row(y1, top, outer, inner, ROWS)
    put_row(y1 + outer * inner, logarithm, outer, inner, ROWS)
    put_row(y2, tl.where(wanted == ignored, 0.0, 1.0), outer, inner, ROWS)


@kernel(
    along="dim",
    grid=(GRID, "cdiv(n, BLOCK)"),
    constants=TILE,
    values={"ignored": "ignore_index", "step": "min(numel(x3) - 1, 1)"},
)
def cross_entropy_vjp(x0, x1, x2, x3, y0, n, outer, inner, ignored, step, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """From a cotangent for each row, or one for all: `step` is 0 of that."""
    row, there = rows_of(outer, inner, ROWS)
    start = starts(row, n, inner)
    wanted = tl.load(x1 + row, mask=there, other=0)
    top = tl.load(x2 + row, mask=there, other=0.0)[:, None]
    logarithm = tl.load(x2 + outer * inner + row, mask=there, other=0.0)[:, None]
    v = tl.load(x3 + row * step, mask=there & (wanted != ignored), other=0.0)[:, None]
    wanted = wanted[:, None]
    j = tl.program_id(1) * tl.cast(BLOCK, tl.int64) + tl.arange(0, BLOCK)
    share = libdevice.exp(tile(x0, start, j, n, inner, there, 0.0) - top - logarithm)
    put_tile(y0, start, j, n, inner, there, v * tl.where(j[None, :] == wanted, share - 1.0, share))
