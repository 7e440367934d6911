"""Writes at positions. A kernel cannot raise: what is written at a position outside of the tensor is left out.

Results have the same bits every time. Sums are formed in one fixed order: programs look among all positions for those of their
rows, or a lane follows its line, instead of many adding at once. Where an element is written several times the last one stays: the positions' numbers compete for it first.
"""

import triton
import triton.language as tl

from .._structured import kernel, sequence, step
from .._templates import widened
from .index import AFTER, FLAT, PARTS, lanes, position
from .reduce import larger, plus, smaller, times

LINES = {"BLOCK": 128}  # one lane for each thread


@triton.jit
def combined(y0, place, x, inside, FUNCTION: tl.constexpr):
    """What stands at `place` and x become FUNCTION of both; the program sees it from then on, whichever of its threads wrote it."""
    y = FUNCTION(widened(tl.load(y0 + place, mask=inside)), widened(x))
    tl.store(y0 + place, y.to(y0.dtype.element_ty), mask=inside)
    tl.debug_barrier()


@triton.jit
def by_positions(x1, x2, y0, n, outer, inner, m, parts, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    """Each element of the source goes where its position says, along its line, one after another."""
    line, there = lanes(outer * inner, BLOCK)
    for j in range(0, m):
        source = (line // inner * m + j) * inner + line % inner
        at, inside = position(x1, source // parts, n, there)
        x = tl.load(x2 + source, mask=inside, other=0)
        combined(y0, (line // inner * n + at) * inner + line % inner, x, inside, FUNCTION)


COMBINED = {"along": "dim", "matching": True, "copied": True, "wide": True, "grid": "cdiv(outer * inner, BLOCK)"}
MANY = "numel(x2) // max(1, outer * inner)"


@step(grid="cdiv(outer * inner, BLOCK)", constants=LINES, when="1 - searched")
def add_in_turn(x1, x2, y0, n, outer, inner, m, parts, BLOCK: tl.constexpr):
    by_positions(x1, x2, y0, n, outer, inner, m, parts, plus, BLOCK)


@triton.jit
def search(x1, start, j, there, n, inner, parts, first, end):
    """Where numbers j of each line's source are, their positions, and which of those are in [first, end)."""
    source = start + j * inner
    at, inside = position(x1, source // parts, n, there)
    return source, at, inside & (at >= first) & (at < end)


@step(
    grid=("cdiv(outer * inner, BLOCK)", "cdiv(n, spread)"),
    values={"rows": "spread"},
    constants={
        "ALONE": "spread == 1",
        "BLOCK": "min(next_pow2(outer * inner), 128)",
        "MANY": "(2048 if ALONE else 512) // BLOCK",
    },
    when="searched",
)
def add_searched(x1, x2, y0, n, outer, inner, m, parts, rows, ALONE: tl.constexpr, BLOCK: tl.constexpr, MANY: tl.constexpr):
    """As `add`, where each element has a position of its own."""
    line, there = lanes(outer * inner, BLOCK)
    first = tl.program_id(1).to(tl.int64) * rows
    end = tl.minimum(first + rows, n)
    start, place = line // inner * m * inner + line % inner, line // inner * n * inner + line % inner
    total = widened(tl.load(y0 + place + first * inner, mask=there, other=0))
    for base in range(0, m, MANY):
        j = (base + tl.arange(0, MANY)).to(tl.int64)
        inside = (j < m)[:, None] & there[None, :]
        source, _, hit = search(x1, start[None, :], j[:, None], inside, n, inner, parts, first, end)
        if ALONE:
            total = plus(total, tl.reduce(widened(tl.load(x2 + source, mask=hit, other=0)), 0, plus)).to(total.dtype)
        else:
            some = tl.max(hit.to(tl.int32), 1) > 0
            following = tl.min(tl.where(some, j, m), 0)
            while following < m:
                one, at, own = search(x1, start, following, there, n, inner, parts, first, end)
                combined(y0, place + at * inner, tl.load(x2 + one, mask=own, other=0), own, plus)
                following = tl.min(tl.where(some & (j > following), j, m), 0)
    if ALONE:
        tl.store(y0 + place + first * inner, total.to(y0.dtype.element_ty), mask=there)


SPREAD = {"spread": "max(1, cdiv(n * cdiv(outer * inner, 128), 1024))"}  # rows for each of some 1024 programs

sequence(
    "scatter_add", steps=[add_in_turn, add_searched], along="dim", matching=True, copied=True, linear=True, wide=True,
    where={**SPREAD, "m": MANY, "parts": PARTS.format("x2"), "searched": "(8 < m) * (outer * inner < 32768)"},
)  # fmt: skip


@kernel(constants={**LINES, "HOW": "how"}, values={"m": MANY}, **COMBINED)
def scatter_reduce(x1, x2, y0, n, outer, inner, m, HOW: tl.constexpr, BLOCK: tl.constexpr):
    if HOW == 2:  # core's Combine: prod, amax, amin
        by_positions(x1, x2, y0, n, outer, inner, m, 1, times, BLOCK)
    elif HOW == 3:
        by_positions(x1, x2, y0, n, outer, inner, m, 1, larger, BLOCK)
    else:
        by_positions(x1, x2, y0, n, outer, inner, m, 1, smaller, BLOCK)


@triton.jit
def target(index, i, there, n, inner, m, after, parts, EACH: tl.constexpr):
    """Of element i of the source: the number of its position, where it goes, and for what it competes: an element, or if not EACH has a
    position of its own, all that have this one."""
    j = i // after % m
    kept = i // after // m * after + i % after
    at, inside = position(index, i // parts if EACH else j, n, there)
    place = (kept // inner * n + at) * inner + kept % inner
    return j, place, place if EACH else at, inside


@step(grid="cdiv(owners, BLOCK)", constants={"BLOCK": 1024}, when="several")
def clear(owner, owners, BLOCK: tl.constexpr):
    i, there = lanes(owners, BLOCK)
    tl.store(owner + i, i.to(tl.int32) * 0 - 1, mask=there)


@step(grid="cdiv(count, BLOCK)", constants={**FLAT, "EACH": "each"}, when="several")
def claim(index, owner, n, inner, m, after, parts, count, EACH: tl.constexpr, BLOCK: tl.constexpr):
    i, there = lanes(count, BLOCK)
    j, _, own, inside = target(index, i, there, n, inner, m, after, parts, EACH)
    tl.atomic_max(owner + own, j.to(tl.int32), mask=inside)


@step(grid="cdiv(count, BLOCK)", constants={**FLAT, "EACH": "each", "SEVERAL": "several"}, when="written")
def write(
    index, source, y0, owner, n, inner, m, after, parts, count, EACH: tl.constexpr, SEVERAL: tl.constexpr, BLOCK: tl.constexpr
):
    i, there = lanes(count, BLOCK)
    j, place, own, inside = target(index, i, there, n, inner, m, after, parts, EACH)
    if SEVERAL:
        inside = inside & (tl.load(owner + own, mask=inside, other=-1) == j)
    x = tl.load(source + i, mask=inside, other=0)
    tl.store(y0 + place, x.to(y0.dtype.element_ty), mask=inside)


WRITES = {
    "copied": True, "linear": True, "workspace": {"owner": ("int32", "several * owners")},
    "suits": "(several < 1) + (m < (1 << 31))",  # positions' numbers are int32
}  # fmt: skip

sequence(
    "scatter", steps=[clear, claim, write], along="dim", matching=True, **WRITES,
    where={
        "index": "x1", "source": "x2", "m": "numel(x2) // max(1, outer * inner)", "after": "inner", "parts": PARTS.format("x2"),
        "count": "numel(x2)", "owners": "numel(y0)", "each": "1", "several": "1 < m", "written": "1",
    },
)  # fmt: skip
sequence(
    "index_copy", steps=[clear, claim, write], along="dim", **WRITES,
    where={
        "index": "x1", "source": "x2", "m": "numel(x1)", "after": "inner", "parts": "1",
        "count": "numel(x2)", "owners": "n", "each": "0", "several": "1 < m", "written": "1",
    },
)  # fmt: skip


@triton.jit
def hits(index, base, n, m, first, end, MANY: tl.constexpr):
    """MANY positions from number `base` on, and which of them are in [first, end)."""
    j = (base + tl.arange(0, MANY)).to(tl.int64)
    at, inside = position(index, j, n, j < m)
    return j, at, inside & (at >= first) & (at < end)


@step(
    grid=("cdiv(outer * inner, BLOCK)", "cdiv(n, spread)"),
    values={"rows": "spread"},
    constants={**LINES, "ALONE": "spread == 1", "MANY": "16 if spread == 1 else 256"},
    when="added",
)
def add(index, source, y0, n, outer, inner, m, after, rows, ALONE: tl.constexpr, MANY: tl.constexpr, BLOCK: tl.constexpr):
    """Each program has some rows of the result, and looks for their positions: of one row it sums up what is for it, in blocks, into more
    than one it adds them one after another."""
    kept, there = lanes(outer * inner, BLOCK)
    first = tl.program_id(1).to(tl.int64) * rows
    end = tl.minimum(first + rows, n)
    start, line = kept // after * m * after + kept % after, kept // inner * n * inner + kept % inner
    if ALONE:
        total = widened(tl.load(y0 + line + first * inner, mask=there, other=0))
        for base in range(0, m, MANY):
            j, _, hit = hits(index, base, n, m, first, end, MANY)
            if tl.max(hit.to(tl.int32), 0) > 0:
                x = tl.load(source + start[None, :] + j[:, None] * after, mask=hit[:, None] & there[None, :], other=0)
                total = plus(total, tl.reduce(widened(x), 0, plus)).to(total.dtype)
        tl.store(y0 + line + first * inner, total.to(y0.dtype.element_ty), mask=there)
    else:
        for base in range(0, m, MANY):
            j, at, hit = hits(index, base, n, m, first, end, MANY)
            following = tl.min(tl.where(hit, j, m), 0)
            while following < m:
                row = tl.sum(tl.where(j == following, at, 0), 0)
                x = tl.load(source + start + following * after, mask=there, other=0)
                combined(y0, line + row * inner, x, there, plus)
                following = tl.min(tl.where(hit & (j > following), j, m), 0)


sequence(
    "index_add", steps=[add], along="dim", copied=True, linear=True, wide=True,
    where={**SPREAD, "index": "x1", "source": "x2", "m": "numel(x1)", "after": "inner", "added": "1"},
)  # fmt: skip
sequence(
    "index_put", steps=[add, clear, claim, write], along="dims", wide=True, **WRITES,
    where={
        **SPREAD, "added": "accumulate", "index": "x2", "source": "x1", "m": "numel(x2)", "after": AFTER, "parts": "1",
        "count": "outer * inner * m", "owners": "n", "each": "0", "several": "(1 - accumulate) * (1 < m)", "written": "1 - accumulate",
    },
)  # fmt: skip
