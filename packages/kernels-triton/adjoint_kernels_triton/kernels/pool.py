"""Pooling over windows of the last one to three dimensions: a lane works on one element of the result, in the order of memory.

Also of the gradient of averages: a lane looks which windows its element is in, and adds their shares, always in the same order.
"""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened
from .conv import coordinates


def space(name, text, absent):
    """Formulas of `name`0 to `name`2, one for each dimension of space, which {} counts from the end; `absent` where there are fewer."""
    return {f"{name}{3 + d}": f"({text.format(d)} if 0 < kernel_size[{d}] else {absent})" for d in (-3, -2, -1)}


WINDOWS = {
    **space("kernel", "kernel_size[{}]", 1), **space("stride", "stride[{}]", 1), **space("padding", "padding[{}]", 0),
    "count": "numel(y0)",
}  # fmt: skip
FORWARD = {**WINDOWS, **space("in", "size(x0, {})", 1), **space("out", "size(y0, {})", 1)}
BACKWARD = {**WINDOWS, **space("in", "size(y0, {})", 1), **space("out", "size(x0, {})", 1)}
AVERAGING = {"divisor": "divisor_override", "whole": "count_include_pad"}
FLAT = {
    "grid": "cdiv(numel(y0), BLOCK)",
    "constants": {"WIDE": "1 if 1 << 30 < max(numel(x0), numel(y0)) else 0", "BLOCK": 256},
}


@triton.jit
def lanes(count, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64 if WIDE else tl.int32) * BLOCK + tl.arange(0, BLOCK)
    return i, i < count


@kernel(values={**FORWARD, **space("dilation", "dilation[{}]", 1)}, **FLAT)
def max_pool(
    x0, y0, y1, count, in0, in1, in2, out0, out1, out2, kernel0, kernel1, kernel2, stride0, stride1, stride2,
    padding0, padding1, padding2, dilation0, dilation1, dilation2, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, there = lanes(count, WIDE, BLOCK)
    plane, a, b, c = coordinates(i, (out0, out1, out2))
    x = x0 + plane.to(tl.int64) * in0 * in1 * in2
    a, b, c = a * stride0 - padding0, b * stride1 - padding1, c * stride2 - padding2
    d = tl.where(a < 0, (dilation0 - 1 - a) // dilation0 * dilation0 + a, a)  # where the window begins within the plane
    e = tl.where(b < 0, (dilation1 - 1 - b) // dilation1 * dilation1 + b, b)
    f = tl.where(c < 0, (dilation2 - 1 - c) // dilation2 * dilation2 + c, c)
    index = (d * in1 + e) * in2 + f
    best = tl.load(x + index, mask=there & (d < in0) & (e < in1) & (f < in2), other=0)
    for tap in range(0, tl.cast(kernel0, tl.int32) * kernel1 * kernel2):
        _, p, q, r = coordinates(tl.cast(tap, tl.int32), (kernel0, kernel1, kernel2))
        d, e, f = a + p * dilation0, b + q * dilation1, c + r * dilation2
        inside = there & (d >= 0) & (d < in0) & (e >= 0) & (e < in1) & (f >= 0) & (f < in2)
        at = (d * in1 + e) * in2 + f
        v = tl.load(x + at, mask=inside, other=0)
        enters = inside & ((widened(v) > widened(best)) | (v != v))  # of equal elements the first one stays
        best, index = tl.where(enters, v, best), tl.where(enters, at, index)
    tl.store(y0 + i, best, mask=there)
    tl.store(y1 + i, index.to(tl.int64), mask=there)


@triton.jit
def edge(at, stride, padding, kernel, size, whole):
    """The first and last element of a window along one dimension, and how many count."""
    first = at * stride - padding
    last = tl.minimum(first + kernel, size + padding)
    inner = tl.maximum(first, 0), tl.minimum(last, size)
    return inner[0], inner[1], tl.where(whole != 0, last - first, inner[1] - inner[0])


@triton.jit
def share(x, divisor, elements):
    """x divided by how many elements count; integers towards zero."""
    by = tl.where(divisor != 0, divisor, elements).to(x.dtype)
    return x / by if x.dtype.is_floating() else x // by


@triton.jit
def wide_type(x):
    """In which type sums are taken."""
    return widened(x) if x.dtype.is_floating() else x.to(tl.int64)


@kernel(values={**FORWARD, **AVERAGING}, **FLAT)
def avg_pool(
    x0, y0, count, in0, in1, in2, out0, out1, out2, kernel0, kernel1, kernel2, stride0, stride1, stride2,
    padding0, padding1, padding2, divisor, whole, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, there = lanes(count, WIDE, BLOCK)
    plane, a, b, c = coordinates(i, (out0, out1, out2))
    first0, last0, elements0 = edge(a, stride0, padding0, kernel0, in0, whole)
    first1, last1, elements1 = edge(b, stride1, padding1, kernel1, in1, whole)
    first2, last2, elements2 = edge(c, stride2, padding2, kernel2, in2, whole)
    total = wide_type(tl.zeros((BLOCK,), x0.dtype.element_ty))
    for tap in range(0, tl.cast(kernel0, tl.int32) * kernel1 * kernel2):
        _, p, q, r = coordinates(tl.cast(tap, tl.int32), (kernel0, kernel1, kernel2))
        d, e, f = first0 + p, first1 + q, first2 + r
        at = ((plane * in0 + d) * in1 + e) * in2 + f
        total += wide_type(tl.load(x0 + at, mask=there & (d < last0) & (e < last1) & (f < last2), other=0))
    y = share(total, divisor, elements0 * elements1 * elements2)
    tl.store(y0 + i, y.to(y0.dtype.element_ty), mask=there)


@triton.jit
def windows(kernel, stride):
    """In how many windows an element may be along one dimension."""
    return (tl.cast(kernel, tl.int32) + stride - 1) // stride


@kernel(values={**BACKWARD, **AVERAGING}, **FLAT)
def avg_pool_vjp(
    x0, y0, count, in0, in1, in2, out0, out1, out2, kernel0, kernel1, kernel2, stride0, stride1, stride2,
    padding0, padding1, padding2, divisor, whole, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, there = lanes(count, WIDE, BLOCK)
    plane, a, b, c = coordinates(i, (in0, in1, in2))
    over0, over1, over2 = windows(kernel0, stride0), windows(kernel1, stride1), windows(kernel2, stride2)
    total = wide_type(tl.zeros((BLOCK,), x0.dtype.element_ty))
    for window in range(
        0, tl.cast(over0, tl.int32) * over1 * over2
    ):  # the windows that an element may be in, the first ones first
        _, p, q, r = coordinates(tl.cast(window, tl.int32), (over0, over1, over2))
        d = (a + padding0) // stride0 - (over0 - 1 - p)
        e = (b + padding1) // stride1 - (over1 - 1 - q)
        f = (c + padding2) // stride2 - (over2 - 1 - r)
        first0, last0, elements0 = edge(d, stride0, padding0, kernel0, in0, whole)
        first1, last1, elements1 = edge(e, stride1, padding1, kernel1, in1, whole)
        first2, last2, elements2 = edge(f, stride2, padding2, kernel2, in2, whole)
        inside = there & (d >= 0) & (d < out0) & (e >= 0) & (e < out1) & (f >= 0) & (f < out2)
        inside = inside & (a < last0) & (b < last1) & (c < last2)
        v = wide_type(tl.load(x0 + ((plane * out0 + d) * out1 + e) * out2 + f, mask=inside, other=0))
        total += tl.where(inside, share(v, divisor, tl.maximum(elements0 * elements1 * elements2, 1)), 0)
    tl.store(y0 + i, total.to(y0.dtype.element_ty), mask=there)


@triton.jit
def start(sample, at, size, window, count):
    """Where window `at` of a line begins."""
    step = (size - window).to(tl.float64) / tl.maximum(count - 1, 1).to(tl.float64)
    step = step.to(sample.dtype)
    sample = tl.where(sample >= 0, tl.minimum(sample, 1.0), 0.0).to(sample.dtype)  # of other numbers windows would lie outside
    first = ((sample + at.to(sample.dtype)) * step).to(tl.int32) - (sample * step).to(tl.int32)
    return tl.where(at == count - 1, size - window, first)


@kernel(
    values={**space("kernel", "kernel_size[{}]", 1), **space("in", "size(x0, {})", 1), **space("out", "size(y0, {})", 1), "count": "numel(y0)", "dims": "3 if 0 < kernel_size[-3] else (2 if 0 < kernel_size[-2] else 1)"}, **FLAT,
)  # fmt: skip
def fractional_max_pool(
    x0, x1, y0, y1, count, in0, in1, in2, out0, out1, out2, kernel0, kernel1, kernel2, dims, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, there = lanes(count, WIDE, BLOCK)
    plane, a, b, c = coordinates(i, (out0, out1, out2))
    x, samples = x0 + plane.to(tl.int64) * in0 * in1 * in2, x1 + plane.to(tl.int64) * dims
    # Of an image the width comes first, of a volume the depth.
    s = widened(tl.load(samples, mask=there, other=0.0))
    t = widened(tl.load(samples + 1, mask=there & (dims > 1), other=0.0))
    u = widened(tl.load(samples + 2, mask=there & (dims > 2), other=0.0))
    size0, size1, size2 = tl.cast(in0, tl.int32), tl.cast(in1, tl.int32), tl.cast(in2, tl.int32)
    count0, count1, count2 = tl.cast(out0, tl.int32), tl.cast(out1, tl.int32), tl.cast(out2, tl.int32)
    window0, window1, window2 = tl.cast(kernel0, tl.int32), tl.cast(kernel1, tl.int32), tl.cast(kernel2, tl.int32)
    a = start(s, a, size0, window0, count0)
    b = start(t, b, size1, window1, count1)
    c = start(tl.where(dims == 3, u, s), c, size2, window2, count2)
    index = (a * in1 + b) * in2 + c
    best = tl.load(x + index, mask=there, other=0)
    for tap in range(0, window0 * window1 * window2):
        _, p, q, r = coordinates(tl.cast(tap, tl.int32), (kernel0, kernel1, kernel2))
        at = ((a + p) * in1 + b + q) * in2 + c + r
        v = tl.load(x + at, mask=there, other=0)
        enters = there & ((widened(v) > widened(best)) | (v != v))
        best, index = tl.where(enters, v, best), tl.where(enters, at, index)
    tl.store(y0 + i, best, mask=there)
    tl.store(y1 + i, index.to(tl.int64), mask=there)
