"""Convolution in 1 to 3 dimensions, and its transpose, as products of matrices that are never written out (implicit GEMM).

A result is a sum over the elements of the filter, called taps here, and over channels. So it is a product: rows are positions of the
result in all images, columns are channels of the result, and what is summed over are pairs of a tap and a channel of the source. The
left factor is gathered from the source where it is needed: row q and tap t find theirs at `q * stride - padding + t * dilation`. The
right factor are the filters. (Chetlur et al., cuDNN: Efficient Primitives for Deep Learning, arXiv:1410.0759.)

In the transpose, source position q and tap t meet in the result's position i = q * stride - padding + t * dilation. Positions whose
i + padding leaves the same remainder by the stride are a phase: all of them see the same taps, each at a fixed distance, so that a phase
is a convolution of stride 1, and nothing is multiplied by zeros (Dumoulin and Visin, A guide to convolution arithmetic,
arXiv:1603.07285, on transposed convolution). A program works in one phase; convolution itself has one.

A program takes one group's channels, by `tl.dot`. Where groups are too narrow for that (depthwise), and for integers and complex numbers,
columns are channels of all groups, and each lane sums its own products.
"""

import triton
import triton.language as tl

from .._structured import kernel
from .._templates import widened


def space(name, text, absent):
    """Formulas of `name`0 to `name`2, one for each dimension of space, which {} counts from the end; `absent` where there are fewer."""
    return {f"{name}{3 + d}": f"({text.format(d)} if 0 < stride[{d}] else {absent})" for d in (-3, -2, -1)}


GEOMETRY = {
    **space("size", "size(x0, {})", 1), **space("out", "size(y0, {})", 1), **space("kernel", "size(x1, {})", 1),
    **space("stride", "stride[{}]", 1), **space("padding", "padding[{}]", 0), **space("dilation", "dilation[{}]", 1),
    **space("xs", "stride(x0, {})", 0), **space("ws", "stride(x1, {})", 0),
    "groups": "groups",
    "xn": "stride(x0, 0)", "xc": "stride(x0, 1)", "columns": "size(y0, 1)",
}  # fmt: skip


def by_dot(C, R):
    """A formula: whether to take a group's channels together, of which the source has C and the result R."""
    return f"floating(x0) * (1 if groups == 1 else 1 if 31 < ({C}) * ({R}) else 0)"


# Without tensor cores, products are many instructions.
STEP = "32 if itemsize(x0) < 4 else 32 if tf32 * (itemsize(x0) == 4) else 16"


def options(C, R, positions, stride_c, stride_r):
    """The declaration of a product: formulas for the channels of a group, in the source and in the result, positions in a phase, and strides."""
    phases = " * ".join(space("", "stride[{}]", 1).values()) if "cdiv" in positions else "1"
    tiles = f"cdiv({positions}, BM) * (cdiv({R}, BN) * groups if DOT else cdiv(size(y0, 1), BN))"
    return {
        "grid": f"{tiles} * {phases}", "strided": True, "complex": True,
        "values": {**GEOMETRY, "C": C, "R": R, "positions": positions, "wc": stride_c, "wr": stride_r},
        "constants": {
            "DOT": by_dot(C, R),
            "BN": f"max(16, min(next_pow2({R}), 64)) if DOT else 64 if stride(x0, 1) == 1 else 8",
            "BM": f"max(16, min(next_pow2({positions}), 128 if itemsize(x0) < 8 else 64)) if DOT else 1024 // BN",
            "BK": STEP,
            "CB": f"min(next_pow2({C}), BK)",
            "WIDE": "1 if 1 << 30 < max(numel(x0), numel(y0)) else 0",
            "TF32": "tf32 if itemsize(x0) == 4 else 0",
            "PARTS": "parts(x0)",
        },
        "warps": lambda DOT, BN, BM, *rest: 8 if BM * BN >= 128 * 64 else 4,
    }  # fmt: skip


@triton.jit
def coordinates(i, sizes):
    """A row-major position as four: the image, and three in space."""
    rows = i // sizes[2]
    planes = rows // sizes[1]
    return planes // sizes[0], planes % sizes[0], rows % sizes[1], i % sizes[2]


@triton.jit
def at(a, b, c, strides):
    """How far in memory."""
    return a * tl.cast(strides[0], tl.int64) + b * tl.cast(strides[1], tl.int64) + c * tl.cast(strides[2], tl.int64)


@triton.jit
def meeting(base, tap, counts, distances, sizes):
    """Taps that are there meet rows within the source, (rows, taps)."""
    none, a, b, c = coordinates(tap, counts)
    a = base[0][:, None] + (a * distances[0])[None, :]
    b = base[1][:, None] + (b * distances[1])[None, :]
    c = base[2][:, None] + (c * distances[2])[None, :]
    inside = (a >= 0) & (a < sizes[0]) & (b >= 0) & (b < sizes[1]) & (c >= 0) & (c < sizes[2])
    return inside & (none == 0)[None, :]


@triton.jit
def added(total, p, q, TF32: tl.constexpr):
    """The total and a product."""
    if TF32:
        return tl.dot(p, q, total, input_precision="tf32", out_dtype=total.dtype)
    else:
        return tl.dot(p, q, total, input_precision="ieee", out_dtype=total.dtype)


@triton.jit
def dot_sums(
    x, w, base, there, columns_there, sizes, counts, distances, xs, xc, ws, wc, C,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, CB: tl.constexpr, TF32: tl.constexpr,
):  # fmt: skip
    """The tile's sums. `x`: of each row, where the first tap would be; `w`: of each column. A step takes BK // CB taps of CB channels."""
    LANES: tl.constexpr = 1 if CB == BK else BK  # one tap for all lanes, or one for each
    wide: tl.constexpr = tl.float64 if x.dtype.element_ty == tl.float64 else tl.float32
    total = tl.zeros((BM, BN), wide)
    blocks = tl.cdiv(C, CB)
    taps = tl.cast(counts[0], tl.int32) * counts[1] * counts[2]
    for step in range(0, tl.cdiv(taps, BK // CB) * blocks):
        tap = step // blocks * (BK // CB) + tl.arange(0, LANES) // CB
        channel = step % blocks * CB + tl.arange(0, BK) % CB
        none, a, b, c = coordinates(tap, counts)
        left = meeting(base, tap, counts, distances, sizes) & there[:, None] & (channel < C)[None, :]
        right = ((none == 0) & (channel < C))[:, None] & columns_there[None, :]
        far = at(a * distances[0], b * distances[1], c * distances[2], xs) + channel * tl.cast(xc, tl.int64)
        filters = at(a, b, c, ws) + channel * tl.cast(wc, tl.int64)
        p = tl.load(x[:, None] + far[None, :], mask=left, other=0.0)
        q = tl.load(w[None, :] + filters[:, None], mask=right, other=0.0)
        total = added(total, p, q, TF32)
    return total


@triton.jit
def lane_sums(
    x, w, base, there, columns_there, sizes, counts, distances, xs, xc, ws, wc, C,
    BM: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """The tile's sums, real and imaginary. `x`, (BM, BN): of each row and column, where the first tap would be."""
    kind: tl.constexpr = widened(tl.zeros((1,), x.dtype.element_ty)).dtype
    total, imaginary = tl.zeros((BM, BN), kind), tl.zeros((BM, BN), kind)
    C = tl.cast(C, tl.int32)
    for step in range(0, C * counts[0] * counts[1] * counts[2]):
        tap = step // C + tl.arange(0, 1)
        none, a, b, c = coordinates(tap, counts)
        left = meeting(base, tap, counts, distances, sizes) & there[:, None] & columns_there[None, :]
        far = at(a * distances[0], b * distances[1], c * distances[2], xs) + step % C * tl.cast(xc, tl.int64)
        p, q = x + PARTS * far[None, :], w + PARTS * (at(a, b, c, ws) + step % C * tl.cast(wc, tl.int64))
        u, v = widened(tl.load(p, mask=left, other=0)), widened(tl.load(q, mask=columns_there, other=0))[None, :]
        if PARTS == 2:
            s, t = tl.load(p + 1, mask=left, other=0), tl.load(q + 1, mask=columns_there, other=0)[None, :]
            total += u * v - s * t
            imaginary += u * t + s * v
        else:
            total += u * v
    return total, imaginary


@triton.jit
def product(
    x0, x1, y0, group, tile, image, base, place, there, sizes, counts, distances, first, step, plane, xs, xn, xc, ws, wc, wr,
    C, R, columns, group_step, DOT: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, CB: tl.constexpr,
    TF32: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Rows, which are at `place` in their plane of the result, times a tile of columns.

    Taps are `counts` in each dimension, the first of which is tap `first` of the filter, and every `step`-th.
    """
    j = tile * BN + tl.arange(0, BN)
    row = image * tl.cast(xn, tl.int64) + at(base[0], base[1], base[2], xs)
    steps = (tl.cast(ws[0], tl.int64) * step[0], tl.cast(ws[1], tl.int64) * step[1], tl.cast(ws[2], tl.int64) * step[2])
    start = at(first[0], first[1], first[2], ws)
    if DOT:
        n = group * R + j
        inside = j < R
        x = x0 + row + group * C * tl.cast(xc, tl.int64)
        w = x1 + start + group * group_step + j * tl.cast(wr, tl.int64)
        total = dot_sums(x, w, base, there, inside, sizes, counts, distances, xs, xc, steps, wc, C, BM, BN, BK, CB, TF32)
        imaginary = total
    else:
        n = j
        inside = j < columns
        x = x0 + PARTS * (row[:, None] + (j // R * C * tl.cast(xc, tl.int64))[None, :])
        w = x1 + PARTS * (start + j // R * group_step + j % R * tl.cast(wr, tl.int64))
        total, imaginary = lane_sums(x, w, base, there, inside, sizes, counts, distances, xs, xc, steps, wc, C, BM, BN, PARTS)
    y = y0 + PARTS * ((image * columns * plane + place)[:, None] + (n.to(tl.int64) * plane)[None, :])
    mask = there[:, None] & inside[None, :]
    tl.store(y, total.to(y0.dtype.element_ty), mask=mask)
    if PARTS == 2:
        tl.store(y + 1, imaginary.to(y0.dtype.element_ty), mask=mask)


@triton.jit
def tile_of(positions, R, columns, groups, DOT: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr, WIDE: tl.constexpr):
    """What this program works on: rows, columns, group and phase. Neighbours in time share rows."""
    program = tl.program_id(0)
    across = tl.cdiv(R, BN) if DOT else tl.cdiv(columns, BN)
    tile = program % across
    down = tl.cdiv(positions, BM).to(tl.int32)
    m = (program // across % down).to(tl.int64 if WIDE else tl.int32) * BM + tl.arange(0, BM)
    rest = program // across // down
    return m, tile, rest % groups if DOT else 0, rest // groups if DOT else rest


@kernel(**options("size(x1, 1)", "size(x1, 0) // groups", "numel(y0) // max(1, size(y0, 1))", "stride(x1, 1)", "stride(x1, 0)"))
def conv(
    x0, x1, y0, groups, positions, C, R, columns, size0, size1, size2, out0, out1, out2, kernel0, kernel1, kernel2,
    stride0, stride1, stride2, padding0, padding1, padding2, dilation0, dilation1, dilation2,
    xn, xc, xs0, xs1, xs2, wr, wc, ws0, ws1, ws2,
    DOT: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, CB: tl.constexpr, WIDE: tl.constexpr,
    TF32: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    m, tile, group, _ = tile_of(positions, R, columns, groups, DOT, BN, BM, WIDE)
    image, a, b, c = coordinates(m, (out0, out1, out2))
    base = (a * stride0 - padding0, b * stride1 - padding1, c * stride2 - padding2)
    plane = tl.cast(out0, tl.int64) * out1 * out2
    product(
        x0, x1, y0, group, tile, image, base, (a * tl.cast(out1, tl.int64) + b) * out2 + c, m < positions, (size0, size1, size2), (kernel0, kernel1, kernel2),
        (dilation0, dilation1, dilation2), (0, 0, 0), (1, 1, 1), plane, (xs0, xs1, xs2), xn, xc, (ws0, ws1, ws2), wc, wr,
        C, R, columns, R * tl.cast(wr, tl.int64), DOT, BN, BM, BK, CB, TF32, PARTS,
    )  # fmt: skip


@triton.jit
def taps_of(phase, stride, dilation, kernel):
    """The first tap that a phase sees, the step to its next one, and how many there are, along one dimension."""
    stride, dilation, kernel = tl.cast(stride, tl.int32), tl.cast(dilation, tl.int32), tl.cast(kernel, tl.int32)
    step = stride
    for t in range(1, stride):
        step = tl.where((t * dilation % stride == 0) & (t < step), t, step)
    first = kernel + step
    for t in range(0, step):
        first = tl.where(((phase - t * dilation) % stride == 0) & (t < first), t, first)
    return first, step, (tl.maximum(kernel - first, 0) + step - 1) // step


IN_PHASE = " * ".join(["size(x0, 0)", *space("", "cdiv(size(y0, {0}), stride[{0}])", 1).values()])


@kernel(**options("size(x1, 0) // groups", "size(x1, 1)", IN_PHASE, "stride(x1, 0)", "stride(x1, 1)"))
def conv_input_vjp(
    x0, x1, y0, groups, positions, C, R, columns, size0, size1, size2, out0, out1, out2, kernel0, kernel1, kernel2,
    stride0, stride1, stride2, padding0, padding1, padding2, dilation0, dilation1, dilation2,
    xn, xc, xs0, xs1, xs2, wr, wc, ws0, ws1, ws2,
    DOT: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, CB: tl.constexpr, WIDE: tl.constexpr,
    TF32: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    m, tile, group, phase = tile_of(positions, R, columns, groups, DOT, BN, BM, WIDE)
    image, a, b, c = coordinates(m, (tl.cdiv(out0, stride0), tl.cdiv(out1, stride1), tl.cdiv(out2, stride2)))
    _, d, e, f = coordinates(phase, (stride0, stride1, stride2))
    first0, step0, count0 = taps_of(d, stride0, dilation0, kernel0)
    first1, step1, count1 = taps_of(e, stride1, dilation1, kernel1)
    first2, step2, count2 = taps_of(f, stride2, dilation2, kernel2)
    # multiples of the stride behind the phase, from the first that is not in the padding
    a += (padding0 - d + stride0 - 1) // stride0
    b += (padding1 - e + stride1 - 1) // stride1
    c += (padding2 - f + stride2 - 1) // stride2
    i, j, k = a * stride0 + d - padding0, b * stride1 + e - padding1, c * stride2 + f - padding2
    there = (m < positions) & (i < out0) & (j < out1) & (k < out2)
    base = (
        a + (d - first0 * dilation0) // stride0, b + (e - first1 * dilation1) // stride1, c + (f - first2 * dilation2) // stride2,
    )  # fmt: skip
    distances = (-(step0 * dilation0 // stride0), -(step1 * dilation1 // stride1), -(step2 * dilation2 // stride2))
    plane = tl.cast(out0, tl.int64) * out1 * out2
    product(
        x0, x1, y0, group, tile, image, base, (i * tl.cast(out1, tl.int64) + j) * out2 + k, there, (size0, size1, size2),
        (count0, count1, count2), distances, (first0, first1, first2), (step0, step1, step2), plane, (xs0, xs1, xs2), xn, xc,
        (ws0, ws1, ws2), wc, wr, C, R, columns, C * tl.cast(wc, tl.int64), DOT, BN, BM, BK, CB, TF32, PARTS,
    )  # fmt: skip
