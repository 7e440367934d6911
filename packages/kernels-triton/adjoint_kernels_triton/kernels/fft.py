"""Fourier transforms of any length along one dimension.

Stockham's algorithm (Cochran et al., What is the fast Fourier transform?, 1967; Van Loan, Computational Frameworks for the FFT, 1.7): one pass
over memory for each factor r of the length L, which goes from x to y in natural order, without a reversal of bits. After passes whose
factors have the product s, for k < s

    y[t // s * s r + q s + k] = sum over j < r of w_r^(j q) w_(s r)^(j k) x[j L / r + t],  k = t % s, w_n = e^(-2 pi i / n).

A pass computes that sum as it stands, for all q, as a product of a matrix of roots and a tile: factors are at most 16 (primes 64, lengths up to
32 go in one pass; core's cuda/factors.h), so that memory takes longer.

Lengths with a larger prime go by Bluestein's algorithm (1970): with j k = (j^2 + k^2 - (j - k)^2) / 2 the transform is a convolution with a
chirp, of which transforms of a power of two make a product. The chirp is one more line of the batch.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import sequence, step
from .complex import mul
from .matrices import load, store

LANES = {"BLOCK": 512}


@triton.jit
def root(j, n, dtype):
    """e^(-pi i j / n), of 0 <= j < 2 n, rounded from double precision."""
    angle = tl.cast(j, tl.float64) / tl.cast(n, tl.float64)
    return libdevice.cospi(angle).to(dtype), -libdevice.sinpi(angle).to(dtype)


@step(grid="cdiv(total, BLOCK)", constants=LANES, when="round == 0")
def table(roots, total, BLOCK: tl.constexpr):
    """All roots of unity, which every pass reads."""
    j = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a, b = root(2 * j, total, roots.dtype.element_ty)
    store(roots, j, a, b, j < total, 2)


@triton.jit
def places(length, outer, inner, BLOCK: tl.constexpr):
    """For this program's lanes: position behind, in and before a line of `length`, and which there are. Neighbours lie side by side."""
    lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    return lane % inner, lane // inner % length, lane // inner // length, lane < length * outer * inner


@triton.jit
def given(x0, behind, index, before, points, inner, there, PARTS: tl.constexpr, HALF: tl.constexpr):
    """An element of a line. Of half a transform the rest is conjugate, and real what is its own conjugate."""
    if HALF:
        place = (before * (points // 2 + 1) + tl.minimum(index, points - index)) * inner + behind
        a, b = load(x0, place, there, PARTS)
        return a, tl.where((index == 0) | (2 * index == points), 0.0, tl.where(2 * index > points, -b, b))
    else:
        return load(x0, (before * points + index) * inner + behind, there, PARTS)


@triton.jit
def result(y0, a, b, behind, index, before, kept, inner, there, PARTS: tl.constexpr):
    store(y0, (before * kept + index) * inner + behind, a, b, there & (index < kept), PARTS)


@step(
    grid=("cdiv(outer * inner * total // radix, BLOCK)", "1 if direct else (2 if round < count else 1)"),
    constants={
        "R": "next_pow2(radix)", "BLOCK": "max(16, 2048 // R)", "PARTS": "parts(x0)", "HALF": "half",
        "FIRST": "(1 if round == 0 else 0) if direct else 0", "LAST": "(1 if round == rounds - 1 else 0) if direct else 0",
        "RESULT": "parts(y0)",
    },
)  # fmt: skip
def fold(
    x0, y0, work, roots, scale, outer, inner, points, kept, total, radix, s, flip, source, target,
    R: tl.constexpr, BLOCK: tl.constexpr, PARTS: tl.constexpr, HALF: tl.constexpr, FIRST: tl.constexpr, LAST: tl.constexpr,
    RESULT: tl.constexpr,
):  # fmt: skip
    """One pass of Stockham's; programs of a second row transform the chirp."""
    second = tl.program_id(1) == 1
    first = tl.where(second, tl.cast(outer, tl.int64) * inner * total, 0)
    lines, apart = tl.where(second, 1, tl.cast(outer, tl.int64)), tl.where(second, 1, tl.cast(inner, tl.int64))
    work += 2 * first
    m = total // radix
    behind, t, before, there = places(m, lines, apart, BLOCK)
    q = tl.arange(0, R)
    k = t % s
    sign = tl.where(flip != 0, -1.0, 1.0).to(roots.dtype.element_ty)
    u, v = tl.zeros((R, BLOCK), roots.dtype.element_ty), tl.zeros((R, BLOCK), roots.dtype.element_ty)
    for j in range(0, radix):
        index = tl.cast(j, tl.int64) * m + t
        if FIRST:
            a, b = given(x0, behind, index, before, points, apart, there, PARTS, HALF)
        else:
            a, b = load(work, source + (before * total + index) * apart + behind, there, 2)
        c, d = load(roots, j * k * (m // s), there, 2)
        a, b = mul(a, b, c, sign * d)
        c, d = load(roots, (j * q % radix).to(tl.int64) * m, q < radix, 2)
        c, d = mul(c[:, None], (sign * d)[:, None], a[None, :], b[None, :])
        u += c
        v += d
    index = (t // s * s * radix + k)[None, :] + q[:, None] * s
    there = there[None, :] & (q < radix)[:, None]
    if LAST:
        result(y0, u * scale, v * scale, behind[None, :], index, before[None, :], kept, apart, there, RESULT)
    else:
        store(work, target + (before[None, :] * total + index) * apart + behind[None, :], u, v, there, 2)


@triton.jit
def chirp(j, points, dtype):
    """e^(-pi i j^2 / n)"""
    return root(j * j % (2 * points), points, dtype)


@step(
    grid=("cdiv(outer * inner * total, BLOCK)", "2"), constants={**LANES, "PARTS": "parts(x0)", "HALF": "half"},
    when="0 if direct else round == 0",
)  # fmt: skip
def spread(x0, work, inverse, outer, inner, points, total, BLOCK: tl.constexpr, PARTS: tl.constexpr, HALF: tl.constexpr):
    """The lines times the chirp, filled up with zeros; and the conjugate chirp to both sides of 0."""
    dtype: tl.constexpr = work.dtype.element_ty
    if tl.program_id(1) == 0:
        behind, index, before, there = places(total, outer, inner, BLOCK)
        a, b = given(x0, behind, index, before, points, inner, there & (index < points), PARTS, HALF)
        b = tl.where(inverse != 0, -b, b)
        c, d = chirp(tl.minimum(index, points), points, dtype)
        a, b = mul(a, b, c, d)
        store(work, (before * total + index) * inner + behind, a, b, there, 2)
    else:
        _, index, _, there = places(total, 1, 1, BLOCK)
        distance = tl.minimum(index, total - index)
        c, d = chirp(tl.minimum(distance, points), points, dtype)
        near = distance < points
        at = tl.cast(outer, tl.int64) * inner * total + index
        store(work, at, tl.where(near, c, 0.0), tl.where(near, -d, 0.0), there, 2)


@step(
    grid="cdiv(outer * inner * total, BLOCK)", constants=LANES, when="0 if direct else round == count",
)  # fmt: skip
def convolve(work, outer, inner, total, source, BLOCK: tl.constexpr):
    """The product with the transform of the chirp, conjugate, so that the same passes go back."""
    behind, index, before, there = places(total, outer, inner, BLOCK)
    at = source + (before * total + index) * inner + behind
    a, b = load(work, at, there, 2)
    c, d = load(work, source + tl.cast(outer, tl.int64) * inner * total + index, there, 2)
    a, b = mul(a, b, c, d)
    store(work, at, a, -b, there, 2)


@step(
    grid="cdiv(outer * inner * kept, BLOCK)", constants={**LANES, "RESULT": "parts(y0)"},
    when="0 if direct else round == rounds - 1",
)  # fmt: skip
def gather(work, y0, inverse, scale, outer, inner, points, kept, total, target, BLOCK: tl.constexpr, RESULT: tl.constexpr):
    """What has come back, times the chirp."""
    behind, index, before, there = places(kept, outer, inner, BLOCK)
    a, b = load(work, target + (before * total + index) * inner + behind, there, 2)
    c, d = chirp(index, points, work.dtype.element_ty)
    a, b = mul(a, -b, c, d)
    factor = scale / total
    result(y0, a * factor, tl.where(inverse != 0, -b, b) * factor, behind, index, before, kept, inner, there, RESULT)


PASSES = {
    "direct": "0 < factors(points)", "total": "points if direct else next_pow2(2 * points)", "count": "factors(total)",
    "radix": "factor(total, round % count)", "s": "span(total, round % count)", "flip": "inverse if direct else 0",
    "half_of_work": "(outer * inner + 1) * total", "source": "round % 2 * half_of_work", "target": "(round + 1) % 2 * half_of_work",
}  # fmt: skip


def transform(points: str, kept: str, half: int, numbers: str) -> dict[str, object]:
    """The declaration: elements of a line, of its result, whether half of a transform is given, and which operand is complex."""
    return {
        "steps": [table, spread, convolve, fold, gather],
        "rounds": "count if direct else 2 * count",
        "along": "dim",
        "where": {**PASSES, "points": points, "kept": kept, "half": str(half)},
        "workspace": {
            "roots": (numbers, "total"),
            "work": (numbers, "0 if factors(points) == 1 else 2 * half_of_work"),
        },
    }


sequence("fft", complex=True, **transform("n", "n", 0, "x0"))
sequence("rfft", complex=True, **transform("n", "n // 2 + 1", 0, "y0"))
sequence("irfft", complex=True, **transform("length", "length", 1, "x0"))
