"""Bags of rows, and elements of a product of matrices at listed places.

A program of `embedding_bag` has one bag and some columns of it, and goes through its part of the list. One of the transposed sum has some rows of
the result, and goes through the whole list for what belongs to them: nothing is added by two, each sum has one order, and there is no list to sort.
A row outside of the table is NaN where it is read and left out where it is written to.
"""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened

FLOATS = ("float16", "bfloat16", "float32", "float64")
WEIGHED = "min(1, numel(x3))"


@triton.jit
def extent(x2, b, count, n):
    """Where bag b begins and ends."""
    begin = tl.load(x2 + b)
    end = tl.load(x2 + b + 1, mask=b + 1 < count, other=n)
    return tl.maximum(begin, 0), tl.minimum(end, n)


@triton.jit
def largest(x0, x1, y0, y1, begin, end, b, j, rows, width, skipped):
    inside = j < width
    y = widened(tl.zeros(j.shape, x0.dtype.element_ty))
    at = tl.full(j.shape, -1, tl.int64)
    for i in range(begin, end):
        row = tl.load(x1 + i)
        x = widened(tl.load(x0 + row * width + j, mask=inside & (row >= 0) & (row < rows), other=float("nan")))
        taken = ((at < 0) | (x > y) | ((x != x) & (y == y))) & ((row != skipped) | (row < 0))
        y = tl.where(taken, x, y)
        at = tl.where(taken, row, at)
    tl.store(y0 + b * width + j, y.to(y0.dtype.element_ty), mask=inside)
    tl.store(y1 + b * width + j, at, mask=inside)


@kernel(
    grid="size(y0, 0) * cdiv(size(y0, 1), BLOCK)",
    values={"n": "numel(x1)", "rows": "size(x0, 0)", "width": "size(x0, 1)", "count": "numel(x2)", "skipped": "padding"},
    constants={"BLOCK": "min(next_pow2(size(x0, 1)), 256)", "ITEMS": "max(1, min(32, 1024 // BLOCK))", "MODE": "mode", "WEIGHED": WEIGHED},
    dtypes=FLOATS,
)  # fmt: skip
def embedding_bag(
    x0, x1, x2, x3, y0, y1, n, rows, width, count, skipped,
    BLOCK: tl.constexpr, ITEMS: tl.constexpr, MODE: tl.constexpr, WEIGHED: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(width, BLOCK)
    b = tl.program_id(0).to(tl.int64) // blocks
    j = tl.program_id(0).to(tl.int64) % blocks * BLOCK + tl.arange(0, BLOCK)
    begin, end = extent(x2, b, count, n)
    if MODE == 2:  # core's BagMode: sum, mean, max
        largest(x0, x1, y0, y1, begin, end, b, j, rows, width, skipped)
    else:
        total = widened(tl.zeros((BLOCK,), x0.dtype.element_ty))
        counted = begin * 0
        for start in range(begin, end, ITEMS):
            i = start + tl.arange(0, ITEMS)
            row = tl.load(x1 + i, mask=i < end, other=0)
            counts = (i < end) & ((row != skipped) | (row < 0))  # no row is skipped: -1
            read = counts[:, None] & (j < width)[None, :]
            known = ((row >= 0) & (row < rows))[:, None]
            x = tl.where(
                read, widened(tl.load(x0 + row[:, None] * width + j[None, :], mask=read & known, other=float("nan"))), 0.0
            )
            if WEIGHED:
                x *= widened(tl.load(x3 + i, mask=counts, other=0.0))[:, None]
            total += tl.sum(x, 0)
            counted += tl.sum(counts.to(tl.int64), 0)
        if MODE == 1:
            total /= tl.maximum(counted, 1).to(total.dtype)
            tl.store(y1 + b, counted)
        tl.store(y0 + b * width + j, total.to(y0.dtype.element_ty), mask=j < width)


@triton.jit
def bags_of(x2, i, count, first):
    """Which bag each position of the list lies in, by halves."""
    low = i * 0
    high = low + count
    step = tl.cast(first, tl.int64)
    while step > 0:
        unknown = low < high
        middle = low + (high - low) // 2
        behind = tl.load(x2 + middle, mask=unknown, other=0) > i
        high = tl.where(unknown & behind, middle, high)
        low = tl.where(unknown & (behind == 0), middle + 1, low)
        step = step // 2
    return low - 1


@kernel(
    grid="cdiv(size(y0, 0), ROWS) * cdiv(size(y0, 1), BLOCK)",
    values={
        "n": "numel(x1)", "rows": "size(y0, 0)", "width": "size(y0, 1)", "count": "numel(x2)", "bags": "size(x0, 0)",
        "first": "next_pow2(numel(x2))", "skipped": "padding",
    },
    constants={"BLOCK": "min(next_pow2(size(x0, 1)), 128)", "ROWS": "max(8, min(32, 2048 // BLOCK))", "SEEN": 256, "WEIGHED": WEIGHED},
    dtypes=FLOATS,
)  # fmt: skip
def embedding_bag_vjp(
    x0, x1, x2, x3, y0, n, rows, width, count, bags, first, skipped,
    BLOCK: tl.constexpr, ROWS: tl.constexpr, SEEN: tl.constexpr, WEIGHED: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(width, BLOCK)
    top = tl.program_id(0).to(tl.int64) // blocks * ROWS
    j = tl.program_id(0).to(tl.int64) % blocks * BLOCK + tl.arange(0, BLOCK)
    r = tl.arange(0, ROWS)
    total = widened(tl.zeros((ROWS, BLOCK), x0.dtype.element_ty))
    for start in range(0, n, SEEN):
        i = start + tl.arange(0, SEEN).to(tl.int64)
        row = tl.load(x1 + i, mask=i < n, other=-1) - top
        mine = (i < n) & (row >= 0) & (row < ROWS) & (row + top != skipped)
        if tl.sum(mine.to(tl.int32), 0) > 0:
            bag = bags_of(x2, i, count, first)
            mine = mine & (bag >= 0) & (bag < bags)
            for _ in range(0, tl.sum(mine.to(tl.int32), 0)):
                now = i == tl.min(tl.where(mine, i, n), 0)
                b = tl.sum(tl.where(now, bag, 0), 0)
                x = widened(tl.load(x0 + b * width + j, mask=j < width, other=0.0))
                if WEIGHED:
                    x *= widened(tl.load(x3 + tl.sum(tl.where(now, i, 0), 0)))
                total += tl.where((r == tl.sum(tl.where(now, row, 0), 0))[:, None], x[None, :], 0.0)
                mine = mine & (now == 0)
    at = (top + r)[:, None]
    tl.store(y0 + at * width + j[None, :], total.to(y0.dtype.element_ty), mask=(at < rows) & (j < width)[None, :])


@kernel(
    grid="cdiv(numel(y0), ITEMS)",
    values={"n": "numel(y0)", "k": "size(x0, 0)", "l": "size(x1, 0)", "width": "size(x0, 1)"},
    constants={"BLOCK": "min(next_pow2(size(x0, 1)), 128)", "ITEMS": "max(1, min(128, 2048 // BLOCK))"},
)  # fmt: skip
def sampled_matmul(x0, x1, x2, x3, y0, n, k, l, width, BLOCK: tl.constexpr, ITEMS: tl.constexpr):  # noqa: E741
    i = tl.program_id(0).to(tl.int64) * ITEMS + tl.arange(0, ITEMS)
    row, column = tl.load(x2 + i, mask=i < n, other=0), tl.load(x3 + i, mask=i < n, other=0)
    known = (i < n) & (row >= 0) & (row < k) & (column >= 0) & (column < l)
    total = widened(tl.zeros((ITEMS,), x0.dtype.element_ty))
    for start in range(0, width, BLOCK):
        j = start + tl.arange(0, BLOCK).to(tl.int64)
        read = known[:, None] & (j < width)[None, :]
        a = widened(tl.load(x0 + row[:, None] * width + j[None, :], mask=read, other=0))
        b = widened(tl.load(x1 + column[:, None] * width + j[None, :], mask=read, other=0))
        total += tl.sum(a * b, 1)
    tl.store(y0 + i, total.to(y0.dtype.element_ty), mask=i < n)
