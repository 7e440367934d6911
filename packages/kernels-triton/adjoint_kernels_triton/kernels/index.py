"""Reads at positions. A kernel cannot raise: what is read at a position outside of the tensor is NaN, where there is one."""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened

FLAT = {"BLOCK": 256}


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
