"""The gradient of convolution's filters: products of matrices that are summed over positions of all images.

Rows are channels of y, columns are pairs of a tap and a channel of x, in tiles of CB channels by BN // CB taps. What is summed over,
positions of y, is long where the product is small, so it is cut into chunks, each a program's. Their sums lie side by side in a workspace
and are added in order by a second launch, not by atomic additions: the same bits every time. (Split-K, as in CUTLASS, Efficient GEMM in
CUDA, docs.nvidia.com/cutlass; the gathered factor is that of `conv`, arXiv:1410.0759.)

Where groups are too narrow for `tl.dot`, and for integers and complex numbers, a program takes one channel of y.
"""

import triton.language as tl

from .._structured import sequence, step
from .conv import STEP, added, at, by_dot, coordinates, meeting, space

POSITIONS = "numel(x1) // max(1, size(x1, 1))"
C, R = "size(y0, 1)", "(size(y0, 0) // groups)"
TAPS = " * ".join(space("", "size(y0, {})", 1).values())
DOT = by_dot(C, R)
TILE = 64
CHUNKS = (
    f"max(1, min({POSITIONS} // 512, cdiv(512, max(1, cdiv({C} * ({TAPS}), {TILE}) * "
    f"(groups * cdiv({R}, {TILE}) if {DOT} else groups * {R})))))"
)
SIZES = {
    "DOT": DOT,
    "BM": f"max(16, min(next_pow2({R}), {TILE})) if DOT else 1",
    "BN": f"max(16, min(next_pow2({C} * ({TAPS})), {TILE} if DOT else 16))",
    "BK": f"({STEP}) if DOT else 64",
    "CB": f"min(next_pow2({C}), BN)",
    "WIDE": "1 if 1 << 30 < max(numel(x0), numel(x1)) else 0",
    "TF32": "tf32 if itemsize(x0) == 4 else 0",
    "PARTS": "parts(x0)",
}
GEOMETRY = {
    **space("size", "size(x0, {})", 1), **space("out", "size(x1, {})", 1), **space("kernel", "size(y0, {})", 1),
    **space("stride", "stride[{}]", 1), **space("padding", "padding[{}]", 0), **space("dilation", "dilation[{}]", 1),
    **space("xs", "stride(x0, {})", 0), **space("ys", "stride(x1, {})", 0),
    "xn": "stride(x0, 0)", "xc": "stride(x0, 1)", "yn": "stride(x1, 0)", "yc": "stride(x1, 1)",
    "C": C, "R": R, "positions": POSITIONS, "chunk": f"cdiv({POSITIONS}, {CHUNKS})", "count": "numel(y0)",
}  # fmt: skip
TILES = f"cdiv({C}, CB) * cdiv({TAPS}, BN // CB) * (cdiv({R}, BM) * groups if DOT else size(y0, 0))"


@step(grid=(TILES, CHUNKS), values=GEOMETRY, constants=SIZES)
def products(
    x0, x1, sums, positions, chunk, count, C, R, size0, size1, size2, out0, out1, out2, kernel0, kernel1, kernel2,
    stride0, stride1, stride2, padding0, padding1, padding2, dilation0, dilation1, dilation2,
    xn, xc, xs0, xs1, xs2, yn, yc, ys0, ys1, ys2,
    DOT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, CB: tl.constexpr, WIDE: tl.constexpr,
    TF32: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    LANES: tl.constexpr = 1 if CB == BN else BN  # one tap for all columns, or one for each
    kind: tl.constexpr = sums.dtype.element_ty
    index: tl.constexpr = tl.int64 if WIDE else tl.int32
    counts, distances, xs = (kernel0, kernel1, kernel2), (dilation0, dilation1, dilation2), (xs0, xs1, xs2)
    blocks = tl.cdiv(C, CB)
    across = blocks * tl.cdiv(kernel0 * kernel1 * kernel2, BN // CB)
    tile, rest = tl.program_id(0) % across, tl.program_id(0) // across
    tap = tile // blocks * (BN // CB) + tl.arange(0, LANES) // CB
    channel = tile % blocks * CB + tl.arange(0, BN) % CB
    group = rest // tl.cdiv(R, BM)
    j = rest % tl.cdiv(R, BM) * BM + tl.arange(0, BM)
    row = group * R + j
    none, a, b, c = coordinates(tap, counts)
    columns_there, rows_there = (none == 0) & (channel < C), j < R
    far = at(a * dilation0, b * dilation1, c * dilation2, xs) + (group * C + channel) * tl.cast(xc, tl.int64)
    first = tl.program_id(1).to(index) * chunk
    last = tl.minimum(first + chunk, positions)
    total = tl.zeros((BM, BN), kind) if DOT else tl.zeros((BK, BN), kind)
    imaginary = total
    for start in range(first, last, BK):
        k = start + tl.arange(0, BK)
        image, d, e, f = coordinates(k, (out0, out1, out2))
        base = (d * stride0 - padding0, e * stride1 - padding1, f * stride2 - padding2)
        inside = meeting(base, tap, counts, distances, (size0, size1, size2)) & (k < last)[:, None] & columns_there[None, :]
        x = x0 + PARTS * ((image * tl.cast(xn, tl.int64) + at(base[0], base[1], base[2], xs))[:, None] + far[None, :])
        y = image * tl.cast(yn, tl.int64) + at(d, e, f, (ys0, ys1, ys2))
        y = x1 + PARTS * ((row * tl.cast(yc, tl.int64))[:, None] + y[None, :])
        mask = rows_there[:, None] & (k < last)[None, :]
        if DOT:
            total = added(total, tl.load(y, mask=mask, other=0.0), tl.load(x, mask=inside, other=0.0), TF32)
        else:
            u, v = tl.load(x, mask=inside, other=0).to(kind), tl.trans(tl.load(y, mask=mask, other=0).to(kind))
            if PARTS == 2:
                s, t = tl.load(x + 1, mask=inside, other=0), tl.trans(tl.load(y + 1, mask=mask, other=0))
                total += u * v - s * t
                imaginary += u * t + s * v
            else:
                total += u * v
    place = (row.to(tl.int64) * C)[:, None] + channel[None, :]
    place = sums + PARTS * (tl.program_id(1) * tl.cast(count, tl.int64) + place * (kernel0 * kernel1 * kernel2) + tap[None, :])
    mask = rows_there[:, None] & columns_there[None, :]
    tl.store(place, total if DOT else tl.sum(total, 0)[None, :], mask=mask)
    if PARTS == 2:
        tl.store(place + 1, tl.sum(imaginary, 0)[None, :], mask=mask)


@step(
    grid="cdiv(parts(x0) * numel(y0), BLOCK)", values={"chunks": CHUNKS, "count": "parts(x0) * numel(y0)"},
    constants={"BLOCK": 256},
)  # fmt: skip
def added_up(sums, y0, chunks, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(sums + i, mask=i < count, other=0)
    for chunk in range(1, chunks):
        total += tl.load(sums + chunk * tl.cast(count, tl.int64) + i, mask=i < count, other=0)
    tl.store(y0 + i, total.to(y0.dtype.element_ty), mask=i < count)


sequence(
    "conv_weight_vjp", steps=[products, added_up], workspace={"sums": ("widened(x0)", f"numel(y0) * ({CHUNKS})")},
    strided=True, complex=True,
)  # fmt: skip
