"""batch_norm in training and its derivative: statistics of channels, of which there are few and each is long.

Where one program would follow a channel for long, programs beside each other take a piece of it, a second launch joins what the pieces came
to, and a third one reads x again and writes. Of dimensions that are worked along apart from each other, see the option `apart`.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import sequence, step
from .._templates import widened
from .moments import joined_moments, less_squares, put_moments
from .normalise import put_row
from .pieces import in_pieces
from .reduce import put, rows_of, tile

# Where elements of a channel lie beside each other, long blocks of few channels; else blocks as wide as the channels are.
_WIDE = "(min(1024, max(32, 2048 // next_pow2(kept))) if behind < 8 else 1024)"
TILE = {
    "ROWS": "min(next_pow2(kept), 64) if behind < 8 else max(1, 512 // min(next_pow2(n), 1024))",
    "BLOCK": f"min(next_pow2(n), {_WIDE})",
}
_PROGRAMS = "(cdiv(outer, min(next_pow2(kept), 64)) if behind < 8 else outer)"
CHUNK, COUNT = in_pieces(_WIDE, _PROGRAMS)
PIECES = {"chunk": CHUNK, "pieces": COUNT}
GRID = ("cdiv(outer, ROWS)", COUNT)
COLUMNS = {"ROWS": "min(next_pow2(outer), 8)", "BLOCK": f"min(next_pow2({COUNT}), 2048 // ROWS)"}


@triton.jit
def bounds(n, chunk):
    """The first element of this program's piece and the one behind its last, as wide as n is: divisions of 64 bits are slow."""
    first = (n * 0 + tl.program_id(1)) * chunk
    return first, first + tl.minimum(chunk, n - first)


@triton.jit
def block_of(row, first, end, there, n, kept, behind, BLOCK: tl.constexpr):
    """Where elements `first` and those behind it lie of channels `row`, and which of them there are."""
    lane = tl.arange(0, BLOCK)
    j = first + lane
    line = row // kept * (n // behind)
    at = ((line[:, None] + (j // behind)[None, :]) * kept + (row % kept)[:, None]) * behind + (j % behind)[None, :]
    return at, there[:, None] & (lane < end - first)[None, :]


@triton.jit
def channel(x, row, kept, there, identity, PRESENT: tl.constexpr):
    if PRESENT:
        return widened(tl.load(x + row % kept, mask=there, other=identity))[:, None]
    else:
        return identity


@triton.jit
def channel_moments(x0, n, outer, kept, behind, chunk, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """As `moments`, of a piece of each channel."""
    row, there = rows_of(outer, 1, ROWS)
    first, end = bounds(n, chunk)
    at, inside = block_of(row, first, end, there, n, kept, behind, BLOCK)
    x = widened(tl.load(x0 + at, mask=inside, other=0.0))
    near = tl.sum(x, 1) / tl.minimum(end - first, BLOCK)
    d = tl.where(inside, x - near[:, None], 0.0)
    total = d
    squares = d * d
    for block in range(first + BLOCK, end, BLOCK):
        at, inside = block_of(row, block, end, there, n, kept, behind, BLOCK)
        d = tl.where(inside, widened(tl.load(x0 + at, mask=inside, other=0.0)) - near[:, None], 0.0)
        total += d
        squares += d * d
    above = tl.sum(total, 1) / (end - first)
    return near, above, less_squares(tl.sum(squares, 1), above * above * (end - first))


@triton.jit
def standardised(
    x0, x1, x2, y0, centre, spread, n, outer, kept, behind, chunk, eps,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, 1, ROWS)
    scale = channel(x1, row, kept, there, 1.0, INPUTS > 1) / libdevice.sqrt_rn(spread + eps.to(spread.dtype))[:, None]
    shift = channel(x2, row, kept, there, 0.0, INPUTS > 2)
    first, end = bounds(n, chunk)
    for block in range(first, end, BLOCK):
        at, inside = block_of(row, block, end, there, n, kept, behind, BLOCK)
        y = (widened(tl.load(x0 + at, mask=inside, other=0.0)) - centre[:, None]) * scale + shift
        tl.store(y0 + at, y.to(y0.dtype.element_ty), mask=inside)


@step(grid=GRID, constants={**TILE, "INPUTS": "inputs"}, values=PIECES)
def batch_norm(
    x0, x1, x2, y0, y1, y2, found, n, outer, kept, behind, chunk, pieces, eps,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    near, above, squares = channel_moments(x0, n, outer, kept, behind, chunk, ROWS, BLOCK)
    if pieces > 1:
        put_moments(found, near, above, squares, outer, 1, pieces, ROWS)
    else:
        centre, spread = near + above, squares / n
        standardised(x0, x1, x2, y0, centre, spread, n, outer, kept, behind, chunk, eps, ROWS, BLOCK, INPUTS)
        put_row(y1, centre, outer, 1, ROWS)
        put_row(y2, spread, outer, 1, ROWS)


@step(grid="cdiv(outer, ROWS)", constants=COLUMNS, values=PIECES, when=f"1 < {COUNT}")
def statistics_of_pieces(y1, y2, found, n, outer, chunk, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    centre, squares = joined_moments(found, outer, pieces, n, chunk, ROWS, BLOCK)
    put_row(y1, centre, outer, 1, ROWS)
    put_row(y2, squares / n, outer, 1, ROWS)


@step(grid=GRID, constants={**TILE, "INPUTS": "inputs"}, values={"chunk": CHUNK}, when=f"1 < {COUNT}")
def batch_norm_of_pieces(
    x0, x1, x2, y0, y1, y2, n, outer, kept, behind, chunk, eps,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, 1, ROWS)
    centre, spread = tl.load(y1 + row, mask=there, other=0.0), tl.load(y2 + row, mask=there, other=1.0)
    standardised(x0, x1, x2, y0, centre, spread, n, outer, kept, behind, chunk, eps, ROWS, BLOCK, INPUTS)


sequence(
    "batch_norm", along="dims", apart=True, steps=[batch_norm, statistics_of_pieces, batch_norm_of_pieces],
    workspace={"found": ("widened(x0)", f"3 * outer * {COUNT} if 1 < {COUNT} else 0")},
)  # fmt: skip


# ---- the derivative, from v, x, the means and squares of channels, and a weight; or what this weight gets, where `sums` is set


@triton.jit
def scale_of(x2, x3, outer, eps, ROWS: tl.constexpr):
    """What channels are multiplied by once their mean is subtracted, and that mean."""
    row, there = rows_of(outer, 1, ROWS)
    square = widened(tl.load(x3 + row, mask=there, other=1.0))
    scale = (1.0 / libdevice.sqrt_rn(square + eps.to(square.dtype)))[:, None]
    return scale, widened(tl.load(x2 + row, mask=there, other=0.0))[:, None]


@triton.jit
def channel_sums(x0, x1, x2, x3, n, outer, kept, behind, chunk, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The sums of v, and of v times what is standardised."""
    row, there = rows_of(outer, 1, ROWS)
    scale, centre = scale_of(x2, x3, outer, eps, ROWS)
    total = tl.zeros((ROWS, BLOCK), scale.dtype)
    product = tl.zeros((ROWS, BLOCK), scale.dtype)
    first, end = bounds(n, chunk)
    for block in range(first, end, BLOCK):
        at, inside = block_of(row, block, end, there, n, kept, behind, BLOCK)
        v = widened(tl.load(x0 + at, mask=inside, other=0.0))
        total += v
        product += v * ((widened(tl.load(x1 + at, mask=inside, other=0.0)) - centre) * scale)
    return tl.sum(total, 1), tl.sum(product, 1)


@triton.jit
def from_sums(
    x0, x1, x2, x3, x4, y0, total, product, n, outer, kept, behind, chunk, eps,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, 1, ROWS)
    scale, centre = scale_of(x2, x3, outer, eps, ROWS)
    mean, slope = (total / n)[:, None], (product / n)[:, None]
    factor = channel(x4, row, kept, there, 1.0, INPUTS > 4) * scale
    first, end = bounds(n, chunk)
    for block in range(first, end, BLOCK):
        at, inside = block_of(row, block, end, there, n, kept, behind, BLOCK)
        v = widened(tl.load(x0 + at, mask=inside, other=0.0))
        z = (widened(tl.load(x1 + at, mask=inside, other=0.0)) - centre) * scale
        tl.store(y0 + at, (factor * (v - mean - z * slope)).to(y0.dtype.element_ty), mask=inside)


VJP_TILE = {**TILE, "INPUTS": "inputs"}


@step(grid=GRID, constants={**VJP_TILE, "SUMS": "sums"}, values=PIECES)
def batch_norm_vjp(
    x0, x1, x2, x3, x4, y0, found, n, outer, kept, behind, chunk, pieces, eps,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    total, product = channel_sums(x0, x1, x2, x3, n, outer, kept, behind, chunk, eps, ROWS, BLOCK)
    if pieces > 1:
        put(found, total, outer, 1, ROWS)
        put(found + pieces * outer, product, outer, 1, ROWS)
    elif SUMS:
        put_row(y0, product, outer, 1, ROWS)
    else:
        from_sums(x0, x1, x2, x3, x4, y0, total, product, n, outer, kept, behind, chunk, eps, ROWS, BLOCK, INPUTS)


@triton.jit
def sums_of(found, outer, pieces, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, there = rows_of(1, outer, ROWS)
    total = tl.zeros((ROWS, BLOCK), found.dtype.element_ty)
    for first in range(0, pieces, BLOCK):
        total += tile(found, row, first + tl.arange(0, BLOCK).to(tl.int64), pieces, outer, there, 0.0)
    return tl.sum(total, 1)


@step(grid="cdiv(outer, ROWS)", constants={**COLUMNS, "SUMS": "sums"}, values={"pieces": COUNT}, when=f"1 < {COUNT}")
def sums_of_pieces(y0, found, totals, outer, pieces, SUMS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    total, product = sums_of(found, outer, pieces, ROWS, BLOCK), sums_of(found + pieces * outer, outer, pieces, ROWS, BLOCK)
    if SUMS:
        put_row(y0, product, outer, 1, ROWS)
    else:
        put_row(totals, total, outer, 1, ROWS)
        put_row(totals + outer, product, outer, 1, ROWS)


@step(grid=GRID, constants=VJP_TILE, values={"chunk": CHUNK}, when=f"(1 < {COUNT}) * (1 - sums)")
def batch_norm_vjp_of_pieces(
    x0, x1, x2, x3, x4, y0, totals, n, outer, kept, behind, chunk, eps,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, INPUTS: tl.constexpr,
):  # fmt: skip
    row, there = rows_of(outer, 1, ROWS)
    total, product = tl.load(totals + row, mask=there, other=0.0), tl.load(totals + outer + row, mask=there, other=0.0)
    from_sums(x0, x1, x2, x3, x4, y0, total, product, n, outer, kept, behind, chunk, eps, ROWS, BLOCK, INPUTS)


sequence(
    "batch_norm_vjp", along="dims", apart=True, steps=[batch_norm_vjp, sums_of_pieces, batch_norm_vjp_of_pieces],
    workspace={
        "found": ("widened(x0)", f"2 * outer * {COUNT} if 1 < {COUNT} else 0"),
        "totals": ("widened(x0)", f"2 * outer if 1 < {COUNT} else 0"),
    },
)  # fmt: skip
