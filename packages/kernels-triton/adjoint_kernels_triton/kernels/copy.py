"""Conversions and triangles; copies that the driver cannot do share the conversion's kernel."""

import triton
import triton.language as tl

from .._declare import elementwise
from .._structured import kernel


@elementwise("to_dtype", "masked_gradient")
def identity(x):
    return x


@elementwise()
def detach_where(x, mask):
    """Only derivatives look at the mask."""
    return x


@triton.jit
def triangle(x0, y0, rows, columns, offset, inner, count, LOWER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = i // inner  # of complex numbers, both parts of one
    across = at % columns - at // columns % rows
    if LOWER:
        kept = across <= offset
    else:
        kept = across >= offset
    tl.store(y0 + i, tl.load(x0 + i, mask=kept & (i < count), other=0), mask=i < count)


TRIANGLE = {
    "linear": True, "values": {"rows": "size(x0, -2)", "columns": "size(x0, -1)", "offset": "diagonal", "count": "numel(y0)"},
    "grid": "cdiv(numel(y0), BLOCK)", "constants": {"BLOCK": 512},
}  # fmt: skip


@kernel(**TRIANGLE)
def tril(x0, y0, rows, columns, offset, inner, count, BLOCK: tl.constexpr):
    triangle(x0, y0, rows, columns, offset, inner, count, True, BLOCK)


@kernel(**TRIANGLE)
def triu(x0, y0, rows, columns, offset, inner, count, BLOCK: tl.constexpr):
    triangle(x0, y0, rows, columns, offset, inner, count, False, BLOCK)


@kernel(linear=True, values={"count": "numel(y0)"}, grid="cdiv(numel(y0), BLOCK)", constants={"BLOCK": 512})
def pinv(x1, y0, count, BLOCK: tl.constexpr):
    """The second operand, of which only derivatives have to know that it is the pseudo-inverse of the first."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y0 + i, tl.load(x1 + i, mask=i < count), mask=i < count)
