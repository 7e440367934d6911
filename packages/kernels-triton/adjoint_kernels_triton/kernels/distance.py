"""Distances between rows: a lane works on one."""

import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened


@kernel(
    values={"rows": "size(x0, -2)", "columns": "max(1, size(x1, -2))", "d": "size(x0, -1)", "count": "numel(y0)"},
    constants={"ABOVE": "above", "POWER": "power", "BLOCK": 128}, grid="cdiv(numel(y0), BLOCK)",
)  # fmt: skip
def distances(x0, x1, y0, rows, columns, d, count, ABOVE: tl.constexpr, POWER: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    j, i = r % columns, r // columns
    there = r < count
    if ABOVE:
        there = there & (j > i % rows)
    a, b = x0 + i * d, x1 + (i // rows * columns + j) * d
    total = widened(tl.zeros((BLOCK,), x0.dtype.element_ty))
    for k in range(0, d):
        apart = widened(tl.load(a + k, mask=there, other=0.0)) - widened(tl.load(b + k, mask=there, other=0.0))
        if POWER == 2:
            total += apart * apart
        elif POWER == 1:
            total += tl.abs(apart)
        else:
            total += tl.where(apart == apart, (apart != 0).to(total.dtype), apart)
    if POWER == 2:
        total = libdevice.sqrt(total)
    tl.store(y0 + r, total.to(y0.dtype.element_ty), mask=r < count)
