"""Reads and writes at positions.

Sums are formed in one fixed order, so that results have the same bits every time: a lane follows its line through all
positions, instead of many adding at once. A kernel cannot raise: what is read at a position outside of the tensor is NaN, where there
is one, and what is written there is left out.
"""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened
from .reduce import larger, plus, smaller, times

FLAT = {"BLOCK": 256}
LINES = {"BLOCK": 128}  # one lane for each thread


@triton.jit
def lanes(count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    return i, i < count


@triton.jit
def position(x1, at, n, mask):
    """A position in [0, n), where there is one; negative ones count from the end."""
    index = tl.load(x1 + at, mask=mask, other=0)
    index = tl.where(index < 0, index + n, index)
    return index, mask & (index >= 0) & (index < n)


@triton.jit
def read(x0, place, inside):
    """The elements there; outside NaN, and 0 of integers."""
    if x0.dtype.element_ty.is_floating():
        return tl.load(x0 + place, mask=inside, other=float("nan"))
    return tl.load(x0 + place, mask=inside, other=0)


@triton.jit
def latter(a, b):
    return b


@triton.jit
def combined(y0, place, x, inside, FUNCTION: tl.constexpr):
    """What stands at `place` and x become FUNCTION of both; the program sees it from then on, whichever of its threads wrote it."""
    y = FUNCTION(widened(tl.load(y0 + place, mask=inside)), widened(x))
    tl.store(y0 + place, y.to(y0.dtype.element_ty), mask=inside)
    tl.debug_barrier()


ALL = {"grid": "cdiv(numel(y0), BLOCK)", "constants": FLAT}


@kernel(along="dim", linear=True, values={"m": "numel(x1)", "count": "numel(y0)"}, **ALL)
def index_select(x0, x1, y0, n, inner, m, count, BLOCK: tl.constexpr):
    i, there = lanes(count, BLOCK)
    at, inside = position(x1, i // inner % m, n, there)
    x = read(x0, (i // inner // m * n + at) * inner + i % inner, inside)
    tl.store(y0 + i, x, mask=there)


# Where positions are as many as elements: 2 of complex numbers, which come as two parts, else 1.
PARTS = "max(1, numel({}) // max(1, numel(x1)))"


@kernel(
    along="dim", matching=True, linear=True,
    values={"m": "numel(y0) // max(1, outer * inner)", "parts": PARTS.format("y0"), "count": "numel(y0)"}, **ALL,
)  # fmt: skip
def gather(x0, x1, y0, n, inner, m, parts, count, BLOCK: tl.constexpr):
    i, there = lanes(count, BLOCK)
    at, inside = position(x1, i // parts, n, there)
    x = read(x0, (i // inner // m * n + at) * inner + i % inner, inside)
    tl.store(y0 + i, x, mask=there)


@kernel(
    along="dim", matching=True, copied=True, linear=True,
    values={"m": "numel(x2) // max(1, outer * inner)", "parts": PARTS.format("x2"), "count": "numel(x2)"},
    grid="cdiv(numel(x2), BLOCK)", constants=FLAT,
)  # fmt: skip
def scatter(x1, x2, y0, n, inner, m, parts, count, BLOCK: tl.constexpr):
    i, there = lanes(count, BLOCK)
    at, inside = position(x1, i // parts, n, there)
    x = tl.load(x2 + i, mask=inside, other=0)
    tl.store(y0 + (i // inner // m * n + at) * inner + i % inner, x, mask=inside)


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


@kernel(constants=LINES, linear=True, values={"m": MANY, "parts": PARTS.format("x2")}, **COMBINED)
def scatter_add(x1, x2, y0, n, outer, inner, m, parts, BLOCK: tl.constexpr):
    by_positions(x1, x2, y0, n, outer, inner, m, parts, plus, BLOCK)


@kernel(constants={**LINES, "HOW": "how"}, values={"m": MANY}, **COMBINED)
def scatter_reduce(x1, x2, y0, n, outer, inner, m, HOW: tl.constexpr, BLOCK: tl.constexpr):
    if HOW == 2:  # core's Combine: prod, amax, amin
        by_positions(x1, x2, y0, n, outer, inner, m, 1, times, BLOCK)
    elif HOW == 3:
        by_positions(x1, x2, y0, n, outer, inner, m, 1, larger, BLOCK)
    else:
        by_positions(x1, x2, y0, n, outer, inner, m, 1, smaller, BLOCK)


@triton.jit
def by_lines(x1, x2, y0, n, outer, inner, m, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    """Row j of the source goes to row x1[j], for all j in turn."""
    line, there = lanes(outer * inner, BLOCK)
    for j in range(0, m):
        at, inside = position(x1, j + line * 0, n, there)
        x = tl.load(x2 + (line // inner * m + j) * inner + line % inner, mask=inside, other=0)
        combined(y0, (line // inner * n + at) * inner + line % inner, x, inside, FUNCTION)


ROWS = {"along": "dim", "copied": True, "values": {"m": "numel(x1)"}, "grid": "cdiv(outer * inner, BLOCK)", "constants": LINES}


@kernel(linear=True, wide=True, **ROWS)
def index_add(x1, x2, y0, n, outer, inner, m, BLOCK: tl.constexpr):
    by_lines(x1, x2, y0, n, outer, inner, m, plus, BLOCK)


@kernel(linear=True, **ROWS)
def index_copy(x1, x2, y0, n, outer, inner, m, BLOCK: tl.constexpr):
    by_lines(x1, x2, y0, n, outer, inner, m, latter, BLOCK)


@kernel(values={"n": "size(x0, 0)", "width": "size(x0, 1) * inner", "count": "numel(y0)"}, linear=True, **ALL)
def embedding(x0, x1, y0, n, width, count, BLOCK: tl.constexpr):
    i, there = lanes(count, BLOCK)
    at, inside = position(x1, i // width, n, there)
    tl.store(y0 + i, read(x0, at * width + i % width, inside), mask=there)


# The result of x[positions] has the positions' dimensions behind `at` of those that are kept: AFTER elements follow them.
AFTER = "outer * inner if at == 0 else inner"


@kernel(along="dims", linear=True, values={"m": "numel(x1)", "after": AFTER, "count": "numel(y0)"}, **ALL)
def index(x0, x1, y0, n, inner, m, after, count, BLOCK: tl.constexpr):
    i, there = lanes(count, BLOCK)
    at, inside = position(x1, i // after % m, n, there)
    kept = i // after // m * after + i % after
    x = read(x0, (kept // inner * n + at) * inner + kept % inner, inside)
    tl.store(y0 + i, x, mask=there)


@kernel(
    along="dims", copied=True, linear=True, wide=True, values={"m": "numel(x2)", "after": AFTER},
    grid="cdiv(outer * inner if accumulate else numel(x1), BLOCK)", constants={**LINES, "ADD": "accumulate"},
)  # fmt: skip
def index_put(x1, x2, y0, n, outer, inner, m, after, ADD: tl.constexpr, BLOCK: tl.constexpr):
    if ADD:
        kept, there = lanes(outer * inner, BLOCK)
        for j in range(0, m):
            at, inside = position(x2, j + kept * 0, n, there)
            x = tl.load(x1 + (kept // after * m + j) * after + kept % after, mask=inside, other=0)
            combined(y0, (kept // inner * n + at) * inner + kept % inner, x, inside, plus)
    else:
        i, there = lanes(outer * inner * m, BLOCK)
        at, inside = position(x2, i // after % m, n, there)
        kept = i // after // m * after + i % after
        x = tl.load(x1 + i, mask=inside, other=0)
        combined(y0, (kept // inner * n + at) * inner + kept % inner, x, inside, latter)


@kernel(
    values={"n": "size(x0, -1)", "m": "size(x1, -1)", "count": "numel(y0)", "first": "next_pow2(size(x0, -1))"},
    grid="cdiv(numel(y0), BLOCK)", constants={**FLAT, "RIGHT": "right"},
)  # fmt: skip
def searchsorted(x0, x1, y0, n, m, count, first, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    """By halves; NaN comes after all numbers."""
    i, there = lanes(count, BLOCK)
    value = widened(tl.load(x1 + i, mask=there, other=0))
    low = i * 0
    high = low + n
    step = tl.cast(first, tl.int64)  # also where it is known to be 1
    while step > 0:
        unknown = low < high
        middle = low + (high - low) // 2
        passed = widened(tl.load(x0 + i // m * n + middle, mask=there & unknown, other=0))
        if RIGHT:
            behind = (passed > value) | ((passed != passed) & (value == value))
        else:
            behind = (passed >= value) | (passed != passed)
        high = tl.where(unknown & behind, middle, high)
        low = tl.where(unknown & (behind == 0), middle + 1, low)
        step = step // 2
    tl.store(y0 + i, low, mask=there)
