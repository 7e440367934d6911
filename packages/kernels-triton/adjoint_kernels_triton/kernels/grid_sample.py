"""Images at given positions, and the cotangents of images and positions: core's grid_sample.h.

A lane works on one element of the samples, or on one position. Of the image's cotangent a lane works on a plane: positions may meet
in an element, and are added in their order.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel
from .._templates import widened

# The last one, or the one before it: of images the third is not there.
HOW = {
    "MODE": "mode", "OUTSIDE": "outside", "ALIGNED": "aligned", "DIMS": "3 if 0 < sizes[-3] else 2",
    "O0": "orders[0]", "O1": "orders[1]", "O2": "orders[2]", "BLOCK": 128,
}  # fmt: skip
SIZES = {"size0": "sizes[-1]", "size1": "sizes[-2]", "size2": "max(1, sizes[-3])", "channels": "max(1, size(x0, 1))"}


@triton.jit
def reflected(x, low, high, slope):
    """x brought between low and high by mirrors, and the derivative."""
    span = high - low
    double = tl.where(span > 0, 2 * span, 1)
    r = libdevice.fmod(x - low, double + x * 0)
    r = tl.where(r < 0, r + double, r)
    slope = tl.where(r > span, -slope, tl.where(r == span, 0, slope))
    return tl.where(span > 0, span - tl.abs(r - span) + low, x * 0), tl.where(span > 0, slope, 0)


@triton.jit
def clipped(x, last, slope):
    """Into [0, last], NaN to 0; no derivative at the ends and beyond them."""
    inside = (x > 0) & (x < last)
    return tl.where(inside, x, tl.where(x >= last, last, 0)), tl.where(inside, slope, 0)


@triton.jit
def near(d, ORDER: tl.constexpr):
    if ORDER == 0:
        return (1.25 * d - 2.25) * d * d + 1
    elif ORDER == 1:
        return (3.75 * d - 4.5) * d
    elif ORDER == 2:
        return 7.5 * d - 4.5
    elif ORDER == 3:
        return d * 0 + 7.5
    else:
        return d * 0


@triton.jit
def far(d, ORDER: tl.constexpr):
    if ORDER == 0:
        return ((d - 5) * d + 8) * d * -0.75 + 3
    elif ORDER == 1:
        return ((3 * d - 10) * d + 8) * -0.75
    elif ORDER == 2:
        return (6 * d - 10) * -0.75
    elif ORDER == 3:
        return d * 0 - 4.5
    else:
        return d * 0


@triton.jit
def weight_of(K: tl.constexpr, t, MODE: tl.constexpr, ORDER: tl.constexpr):
    """What tap K counts at the fraction t."""
    if MODE == 1:
        return t * 0 + (1 if ORDER == 0 else 0)
    elif MODE == 0:
        if ORDER == 0:
            return t if K == 1 else 1 - t
        else:
            return t * 0 + (0 if ORDER > 1 else 1 if K == 1 else -1)
    else:
        sign = -1 if K > 1 and ORDER % 2 == 1 else 1
        if K == 1 or K == 2:
            return near(t if K == 1 else 1 - t, ORDER) * sign
        else:
            return far(1 + t if K == 0 else 2 - t, ORDER) * sign


@triton.jit
def tap(v, K: tl.constexpr, size, ORDER: tl.constexpr, MODE: tl.constexpr, OUTSIDE: tl.constexpr, ALIGNED: tl.constexpr):
    """Which of `size` elements tap K is at coordinate v, what it counts, and whether there is such an element."""
    last = tl.cast(size, v.dtype) - 1
    edge = 0.0 if ALIGNED else 0.5
    if ALIGNED:
        x, slope = (v + 1) / 2 * last, v * 0 + last / 2
    else:
        x, slope = ((v + 1) * size - 1) / 2, v * 0 + tl.cast(size, v.dtype) / 2
    if MODE != 2 and OUTSIDE == 2:
        x, slope = reflected(x, -edge, last + edge, slope)
    if MODE != 2 and OUTSIDE != 0:
        x, slope = clipped(x, last, slope)
    low = libdevice.rint(x) if MODE == 1 else libdevice.floor(x)
    at = low + (K - 1 if MODE == 2 else K)
    if MODE == 2 and OUTSIDE == 2:
        at, _ = reflected(at, -edge, last + edge, slope)
    if MODE == 2 and OUTSIDE != 0:
        at, _ = clipped(at, last, slope)
    inside = (at >= 0) & (at < size)
    weight = weight_of(K, x - low, MODE, ORDER)
    for _ in tl.static_range(ORDER):
        weight = weight * slope
    return tl.where(inside, at, 0).to(tl.int64), weight, inside


@triton.jit
def corner(
    u, v, w, Q: tl.constexpr, size0, size1, size2, MODE: tl.constexpr, OUTSIDE: tl.constexpr, ALIGNED: tl.constexpr,
    DIMS: tl.constexpr, O0: tl.constexpr, O1: tl.constexpr, O2: tl.constexpr,
):  # fmt: skip
    """Where in the plane element Q around a position lies, what it counts, and whether there is such an element."""
    TAPS: tl.constexpr = 1 if MODE == 1 else 4 if MODE == 2 else 2
    at, weight, inside = tap(u, Q % TAPS, size0, O0, MODE, OUTSIDE, ALIGNED)
    row, by, also = tap(v, Q // TAPS % TAPS, size1, O1, MODE, OUTSIDE, ALIGNED)
    at, weight, inside = at + row * size0, by * weight, inside & also
    if DIMS == 3:
        row, by, also = tap(w, Q // (TAPS * TAPS), size2, O2, MODE, OUTSIDE, ALIGNED)
        at, weight, inside = at + row * size0 * size1, by * weight, inside & also
    return at, weight, inside


@triton.jit
def position(grid, number, there, DIMS: tl.constexpr):
    """The coordinates of a position; the third is the second where there are two."""
    u = widened(tl.load(grid + number * DIMS, mask=there, other=0.0))
    v = widened(tl.load(grid + number * DIMS + 1, mask=there, other=0.0))
    w = widened(tl.load(grid + number * DIMS + DIMS - 1, mask=there, other=0.0))
    return u, v, w


@kernel(
    values={**SIZES, "count": "numel(y0)", "positions": "numel(y0) // max(1, size(x0, 0) * size(x0, 1))"},
    constants=HOW,
    grid="cdiv(numel(y0), BLOCK)",
)
def grid_sample(
    x0, x1, y0, count, positions, channels, size0, size1, size2, MODE: tl.constexpr, OUTSIDE: tl.constexpr,
    ALIGNED: tl.constexpr, DIMS: tl.constexpr, O0: tl.constexpr, O1: tl.constexpr, O2: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    TAPS: tl.constexpr = 1 if MODE == 1 else 4 if MODE == 2 else 2
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = i < count
    plane = i // positions
    u, v, w = position(x1, plane // channels * positions + i % positions, there, DIMS)
    x = x0 + plane * size0 * size1 * size2
    total = u * 0
    total = tl.zeros((BLOCK,), total.dtype)
    for q in tl.static_range(TAPS**DIMS):
        at, weight, inside = corner(u, v, w, q, size0, size1, size2, MODE, OUTSIDE, ALIGNED, DIMS, O0, O1, O2)
        total += weight * widened(tl.load(x + at, mask=there & inside, other=0.0))
    tl.store(y0 + i, total.to(y0.dtype.element_ty), mask=there)


@kernel(
    values={**SIZES, "planes": "size(x0, 0) * size(x0, 1)", "positions": "numel(x0) // max(1, size(x0, 0) * size(x0, 1))"},
    constants={**HOW, "BLOCK": 32}, grid="cdiv(size(x0, 0) * size(x0, 1), BLOCK)", wide=True,
)  # fmt: skip
def grid_sample_image_vjp(
    x0, x1, y0, planes, positions, channels, size0, size1, size2, MODE: tl.constexpr, OUTSIDE: tl.constexpr,
    ALIGNED: tl.constexpr, DIMS: tl.constexpr, O0: tl.constexpr, O1: tl.constexpr, O2: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    TAPS: tl.constexpr = 1 if MODE == 1 else 4 if MODE == 2 else 2
    plane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = plane < planes
    size = tl.cast(size0, tl.int64) * size1 * size2
    y = y0 + plane * size
    for j in range(0, size):
        tl.store(y + j, tl.zeros((BLOCK,), y0.dtype.element_ty), mask=there)
    for j in range(0, positions):
        u, v, w = position(x1, plane // channels * positions + j, there, DIMS)
        given = widened(tl.load(x0 + plane * positions + j, mask=there, other=0.0))
        for q in tl.static_range(TAPS**DIMS):
            at, weight, inside = corner(u, v, w, q, size0, size1, size2, MODE, OUTSIDE, ALIGNED, DIMS, O0, O1, O2)
            before = tl.load(y + at, mask=there & inside, other=0.0)
            tl.store(y + at, before + weight * given, mask=there & inside)


@kernel(
    values={**SIZES, "count": "numel(y0) // DIMS", "positions": "numel(y0) // max(1, DIMS * size(x0, 0))"},
    constants=HOW, grid="cdiv(numel(y0) // DIMS, BLOCK)",
)  # fmt: skip
def grid_sample_grid_vjp(
    x0, x1, x2, y0, count, positions, channels, size0, size1, size2, MODE: tl.constexpr, OUTSIDE: tl.constexpr,
    ALIGNED: tl.constexpr, DIMS: tl.constexpr, O0: tl.constexpr, O1: tl.constexpr, O2: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    TAPS: tl.constexpr = 1 if MODE == 1 else 4 if MODE == 2 else 2
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = i < count
    u, v, w = position(x2, i, there, DIMS)
    a = tl.zeros((BLOCK,), u.dtype)
    b = tl.zeros((BLOCK,), u.dtype)
    c = tl.zeros((BLOCK,), u.dtype)
    for q in tl.static_range(TAPS**DIMS):
        at, by0, inside = corner(u, v, w, q, size0, size1, size2, MODE, OUTSIDE, ALIGNED, DIMS, O0 + 1, O1, O2)
        _, by1, _ = corner(u, v, w, q, size0, size1, size2, MODE, OUTSIDE, ALIGNED, DIMS, O0, O1 + 1, O2)
        total = tl.zeros((BLOCK,), u.dtype)
        for channel in range(0, channels):
            plane = i // positions * channels + channel
            given = widened(tl.load(x0 + plane * positions + i % positions, mask=there, other=0.0))
            x = tl.load(x1 + plane * size0 * size1 * size2 + at, mask=there & inside, other=0.0)
            total += given * widened(x)
        a += by0 * total
        b += by1 * total
        if DIMS == 3:
            _, by2, _ = corner(u, v, w, q, size0, size1, size2, MODE, OUTSIDE, ALIGNED, DIMS, O0, O1, O2 + 1)
            c += by2 * total
    tl.store(y0 + i * DIMS, a.to(y0.dtype.element_ty), mask=there)
    tl.store(y0 + i * DIMS + 1, b.to(y0.dtype.element_ty), mask=there)
    if DIMS == 3:
        tl.store(y0 + i * DIMS + 2, c.to(y0.dtype.element_ty), mask=there)
