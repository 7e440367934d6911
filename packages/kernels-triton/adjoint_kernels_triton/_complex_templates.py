"""The two kernels that run functions of complex numbers, whose parts lie side by side.

KINDS has two bits for each operand, and for the result: real, complex, or a complex number that is no memory.
"""

import triton
import triton.language as tl

from ._templates import load, position

REAL: tl.constexpr = tl.constexpr(0)
PAIRS: tl.constexpr = tl.constexpr(1)


@triton.jit
def parts(source, offset, mask, KIND: tl.constexpr):
    """Real and imaginary part of an operand's elements."""
    if KIND == REAL:
        return load(source, offset, mask), 0.0
    elif KIND == PAIRS:
        first = source + 2 * offset.to(tl.int64)  # may be beyond 32 bits where the offset is not
        return tl.load(first, mask=mask), tl.load(first + 1, mask=mask)
    else:
        return source[0], source[1]


@triton.jit
def place(i, sizes, strides, DIMS: tl.constexpr):
    if DIMS == 0:
        return i
    else:
        return position(i, sizes, strides, DIMS)


@triton.jit
def everywhere(x, at):
    """A block of x, which may be one number. Adding zeros would lose the sign of -0."""
    return tl.where(at == at, x, x)


@triton.jit
def store_parts(out, at, y, mask, KIND: tl.constexpr):
    """Of a result in parts, only the real one goes where the result is real."""
    if KIND == PAIRS:
        first = out + 2 * at.to(tl.int64)
        tl.store(first, everywhere(y[0], at).to(out.dtype.element_ty), mask=mask)
        tl.store(first + 1, everywhere(y[1], at).to(out.dtype.element_ty), mask=mask)
    else:
        tl.store(out + at, y[0].to(out.dtype.element_ty), mask=mask)


@triton.jit
def complex_block(
    inputs, sizes, strides, fields, out, i, n,
    FUNCTION: tl.constexpr, OPERANDS: tl.constexpr, KINDS: tl.constexpr, DIMS: tl.constexpr,
):  # fmt: skip
    mask = i < n
    a, b = parts(inputs[0], place(i, sizes, strides[0], DIMS), mask, KINDS & 3)
    if OPERANDS == 1:
        y = FUNCTION(a, b, *fields)
    elif OPERANDS == 2:
        c, d = parts(inputs[1], place(i, sizes, strides[1], DIMS), mask, KINDS >> 2 & 3)
        y = FUNCTION(a, b, c, d, *fields)
    else:
        c, d = parts(inputs[1], place(i, sizes, strides[1], DIMS), mask, KINDS >> 2 & 3)
        e, f = parts(inputs[2], place(i, sizes, strides[2], DIMS), mask, KINDS >> 4 & 3)
        y = FUNCTION(a, b, c, d, e, f, *fields)
    store_parts(out, place(i, sizes, strides[OPERANDS], DIMS), y, mask, KINDS >> 2 * OPERANDS & 3)


@triton.jit
def complex_flat(
    inputs, fields, out, n, FUNCTION: tl.constexpr, OPERANDS: tl.constexpr, KINDS: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    complex_block(inputs, inputs, (0, 0, 0, 0), fields, out, i, n, FUNCTION, OPERANDS, KINDS, 0)


@triton.jit
def complex_strided(
    inputs, sizes, strides, fields, out, n,
    FUNCTION: tl.constexpr, OPERANDS: tl.constexpr, KINDS: tl.constexpr, DIMS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(sizes[0].dtype) * BLOCK + tl.arange(0, BLOCK)
    complex_block(inputs, sizes, strides, fields, out, i, n, FUNCTION, OPERANDS, KINDS, DIMS)
