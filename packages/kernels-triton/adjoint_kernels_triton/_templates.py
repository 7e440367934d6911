"""The two kernels that run every elementwise function: over memory without gaps, and over up to eight dimensions of strides."""

import triton
import triton.language as tl


@triton.jit
def widened(x):
    """Half types are computed with in float32."""
    if x.dtype == tl.float16 or x.dtype == tl.bfloat16:
        return x.to(tl.float32)
    else:
        return x


@triton.jit
def as_element(x, type: tl.constexpr):
    """x in the type of a tensor's elements; what is below zero wraps in unsigned types, as on the CPU: hardware would make it zero."""
    if x.dtype.is_floating() and type.is_int_unsigned() and type.primitive_bitwidth > 1:
        return x.to(tl.int64).to(type)
    else:
        return x.to(type)


@triton.jit
def load(source, offset, mask):
    """An operand's elements; an operand may also be one number."""
    if source.dtype.is_ptr():
        return widened(tl.load(source + offset, mask=mask))
    else:
        return source


@triton.jit
def position(i, sizes, strides, DIMS: tl.constexpr):
    """Where element i of an operand lies."""
    offset = i * 0
    for d in tl.static_range(DIMS - 1):
        offset += i % sizes[DIMS - 1 - d] * strides[DIMS - 1 - d]
        i = i // sizes[DIMS - 1 - d]
    return offset + i * strides[0]


@triton.jit
def flat_block(inputs, fields, out, i, mask, FUNCTION: tl.constexpr, OPERANDS: tl.constexpr):
    x = load(inputs[0], i, mask)
    if OPERANDS == 1:
        y = FUNCTION(x, *fields)
    elif OPERANDS == 2:
        y = FUNCTION(x, load(inputs[1], i, mask), *fields)
    else:
        y = FUNCTION(x, load(inputs[1], i, mask), load(inputs[2], i, mask), *fields)
    tl.store(out + i, as_element(y, out.dtype.element_ty), mask=mask)


@triton.jit
def flat(inputs, fields, out, n, FUNCTION: tl.constexpr, OPERANDS: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    i = start + tl.arange(0, BLOCK)
    if BLOCK < 512:
        flat_block(inputs, fields, out, i, i < n, FUNCTION, OPERANDS)
    elif start + BLOCK <= n:  # a branch for the whole program: without a mask, loads are of 16 bytes
        flat_block(inputs, fields, out, i, None, FUNCTION, OPERANDS)
    else:
        flat_block(inputs, fields, out, i, i < n, FUNCTION, OPERANDS)


@triton.jit
def strided(
    inputs, sizes, strides, fields, out, n,
    FUNCTION: tl.constexpr, OPERANDS: tl.constexpr, DIMS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(sizes[0].dtype) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = load(inputs[0], position(i, sizes, strides[0], DIMS), mask)
    if OPERANDS == 1:
        y = FUNCTION(x, *fields)
    elif OPERANDS == 2:
        y = FUNCTION(x, load(inputs[1], position(i, sizes, strides[1], DIMS), mask), *fields)
    else:
        second = load(inputs[1], position(i, sizes, strides[1], DIMS), mask)
        third = load(inputs[2], position(i, sizes, strides[2], DIMS), mask)
        y = FUNCTION(x, second, third, *fields)
    tl.store(out + position(i, sizes, strides[OPERANDS], DIMS), as_element(y, out.dtype.element_ty), mask=mask)
