"""Lines, images and volumes in other sizes: a lane works on one element of the result, in the order of memory.

Of the cotangent too: a lane looks which new elements were made of its own, and adds their shares, always in the same order.
"""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened
from .conv import coordinates
from .pool import lanes


def space(name, text, absent):
    """Formulas of `name`0 to `name`2, one for each dimension of space, which {} counts from the end; `absent` where there are fewer."""
    return {f"{name}{3 + d}": f"({text.format(d)} if 0 < sizes[{d}] else {absent})" for d in (-3, -2, -1)}


SHARED = {**space("step", "steps[{}]", 0), "count": "numel(y0)"}
HOW = {
    "grid": "cdiv(numel(y0), BLOCK)",
    "constants": {
        "MODE": "mode", "ALIGNED": "aligned", "DIMS": "3 if 0 < sizes[-3] else (2 if 0 < sizes[-2] else 1)",
        "WIDE": "1 if 1 << 30 < max(numel(x0), numel(y0)) else 0", "BLOCK": 256,
    },
}  # fmt: skip


@triton.jit
def weight_of(k, t, MODE: tl.constexpr):
    """What tap k counts at the fraction t: core's resize.h."""
    if MODE < 2:
        return t * 0 + 1
    elif MODE == 2:
        return t if k == 1 else 1 - t
    else:  # a = -3/4
        if k == 1 or k == 2:
            d = t if k == 1 else 1 - t
            return (1.25 * d - 2.25) * d * d + 1
        else:
            d = 1 + t if k == 0 else 2 - t
            return ((d - 5) * d + 8) * d * -0.75 + 3


@triton.jit
def tap(o, k, n, out, bits, MODE: tl.constexpr, ALIGNED: tl.constexpr):
    """Which of the n elements tap k of new element o is, what it counts, and whether it counts at all."""
    step = tl.cast(bits, tl.int64).to(tl.float64, bitcast=True)  # floats would be too short for long lines
    i = o.to(tl.float64)
    if MODE == 0 or ALIGNED:
        at = i * step
    elif MODE == 1:
        at = (i + 0.5) * step
    else:
        at = (i + 0.5) * step - 0.5
    if MODE < 2:  # in single precision, as long as it tells neighbours apart
        at = tl.where(out <= 1 << 22, at.to(tl.float32).to(tl.float64), at)
    if MODE == 2:
        at = tl.maximum(at, 0.0)
    low = tl.floor(at)
    index = low.to(tl.int64) + (k - 1 if MODE == 3 else k)
    counts = (o >= 0) & ((k == 0) | (MODE != 2) | (step != 1) | (n != out))
    return tl.minimum(tl.maximum(index, 0), n - 1), weight_of(k, at - low, MODE), counts


@kernel(values={**SHARED, **space("in", "size(x0, {})", 1), **space("out", "size(y0, {})", 1)}, **HOW)
def resize(
    x0, y0, count, in0, in1, in2, out0, out1, out2, step0, step1, step2,
    MODE: tl.constexpr, ALIGNED: tl.constexpr, DIMS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    TAPS: tl.constexpr = 1 if MODE < 2 else 2 if MODE == 2 else 4
    i, there = lanes(count, WIDE, BLOCK)
    plane, a, b, c = coordinates(i, (out0, out1, out2))
    x = x0 + plane.to(tl.int64) * in0 * in1 * in2
    total = widened(tl.zeros((BLOCK,), x0.dtype.element_ty))
    for q in tl.static_range(TAPS**DIMS):
        at, weight, counts = tap(c, q % TAPS, in2, out2, step2, MODE, ALIGNED)
        if DIMS > 1:
            row, w, also = tap(b, q // TAPS % TAPS, in1, out1, step1, MODE, ALIGNED)
            at, weight, counts = at + row * in2, w * weight, counts & also
        if DIMS > 2:
            row, w, also = tap(a, q // (TAPS * TAPS), in0, out0, step0, MODE, ALIGNED)
            at, weight, counts = at + row * in1 * in2, w * weight, counts & also
        v = widened(tl.load(x + at, mask=there & counts, other=0.0))
        total += weight.to(total.dtype) * v
    tl.store(y0 + i, total.to(y0.dtype.element_ty), mask=there)


@triton.jit
def reach(i, n, out, bits, MODE: tl.constexpr, ALIGNED: tl.constexpr):
    """New elements [first, last), among which are all that element i of n is a tap of."""
    step = tl.cast(bits, tl.int64).to(tl.float64, bitcast=True)
    by = tl.where(step > 0, step, 1.0)
    low, high = i.to(tl.float64), i.to(tl.float64) + 1
    if MODE == 2:
        low -= 1
    if MODE == 3:
        low, high = low - 2, high + 1
    if MODE == 0 or ALIGNED:
        first, last = low / by, high / by
    elif MODE == 1:
        first, last = low / by - 0.5, high / by - 0.5
    else:
        first, last = (low + 0.5) / by - 0.5, (high + 0.5) / by - 0.5
    first = tl.maximum(tl.minimum(tl.floor(first) - 1, out), 0.0)
    last = tl.maximum(tl.minimum(tl.ceil(last) + 2, out), 0.0)
    first = tl.where((i == 0) | (step <= 0), 0.0, first)
    last = tl.where((i == n - 1) | (step <= 0), tl.cast(out, tl.float64), last)
    return first.to(tl.int64), last.to(tl.int64)


@triton.jit
def share(o, last, i, n, out, bits, MODE: tl.constexpr, ALIGNED: tl.constexpr):
    """What element i of n counts in new element o."""
    TAPS: tl.constexpr = 1 if MODE < 2 else 2 if MODE == 2 else 4
    total = o.to(tl.float64) * 0
    for k in tl.static_range(TAPS):
        at, weight, counts = tap(o, k, n, out, bits, MODE, ALIGNED)
        total += tl.where(counts & (o < last) & (at == i), weight, 0.0)
    return total


@kernel(values={**SHARED, **space("in", "size(y0, {})", 1), **space("out", "size(x0, {})", 1)}, **HOW)
def resize_vjp(
    x0, y0, count, in0, in1, in2, out0, out1, out2, step0, step1, step2,
    MODE: tl.constexpr, ALIGNED: tl.constexpr, DIMS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, there = lanes(count, WIDE, BLOCK)
    plane, a, b, c = coordinates(i, (in0, in1, in2))
    first0, last0, first1, last1 = plane * 0, plane * 0 + 1, plane * 0, plane * 0 + 1
    first2, last2 = reach(c, in2, out2, step2, MODE, ALIGNED)
    if DIMS > 1:
        first1, last1 = reach(b, in1, out1, step1, MODE, ALIGNED)
    if DIMS > 2:
        first0, last0 = reach(a, in0, out0, step0, MODE, ALIGNED)
    most0, most1, most2 = tl.max(last0 - first0, 0), tl.max(last1 - first1, 0), tl.max(last2 - first2, 0)
    total = widened(tl.zeros((BLOCK,), x0.dtype.element_ty))
    for number in range(0, tl.cast(most0, tl.int32) * tl.cast(most1, tl.int32) * tl.cast(most2, tl.int32)):
        _, p, q, r = coordinates(tl.cast(number, tl.int32), (most0, most1, most2))
        d, e, f = first0 + p, first1 + q, first2 + r
        weight = share(f, last2, c, in2, out2, step2, MODE, ALIGNED)
        if DIMS > 1:
            weight = weight * share(e, last1, b, in1, out1, step1, MODE, ALIGNED)
        if DIMS > 2:
            weight = weight * share(d, last0, a, in0, out0, step0, MODE, ALIGNED)
        inside = there & (d < last0) & (e < last1) & (f < last2) & (weight != 0)
        v = widened(tl.load(x0 + ((plane.to(tl.int64) * out0 + d) * out1 + e) * out2 + f, mask=inside, other=0.0))
        total += tl.where(inside, weight.to(total.dtype) * v, 0.0)
    tl.store(y0 + i, total.to(y0.dtype.element_ty), mask=there)
