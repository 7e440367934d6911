"""Products of matrices: a program computes a tile of one product; operands are read where they lie, transposed or broadcast."""

import triton
import triton.language as tl

from .._structured import kernel

SIDE = "128 if itemsize(x0) < 8 else 64 if itemsize(x0) * parts(x0) == 8 else 32"
SIZES = {
    "BM": f"max(16, min(next_pow2(size(x0, -2)), {SIDE}))",
    "BN": f"max(16, min(next_pow2(size(x1, -1)), {SIDE}))",
    "BK": "32 if itemsize(x0) < 8 else 16",
    "TF32": "tf32 if itemsize(x0) == 4 else 0",
}
STRIDES = {
    "M": "size(x0, -2)", "N": "size(x1, -1)", "K": "size(x0, -1)", "batch1": "size(y0, -4)", "batch0": "size(y0, -3)",
    "am": "stride(x0, -2)", "ak": "stride(x0, -1)", "a0": "stride(x0, -3)", "a1": "stride(x0, -4)", "a2": "stride(x0, -5)",
    "bk": "stride(x1, -2)", "bn": "stride(x1, -1)", "b0": "stride(x1, -3)", "b1": "stride(x1, -4)", "b2": "stride(x1, -5)",
}  # fmt: skip
TYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64")


@triton.jit
def tile_of(M, N, BM: tl.constexpr, BN: tl.constexpr):
    """The tile of this program: down groups of eight, so that neighbours in time share operands in the cache."""
    program = tl.program_id(0)
    down = tl.cdiv(M, BM)
    across = tl.cdiv(N, BN)
    group = program // (8 * across)
    height = tl.minimum(down - group * 8, 8)
    inside = program % (8 * across)
    return group * 8 + inside % height, inside // height


@triton.jit
def whole_product(a, b, rows, columns, K, ak, bk, BM: tl.constexpr, BN: tl.constexpr):
    """Of integers, which wrap: a column times a row after another, as `tl.dot` has none of their sizes."""
    wide: tl.constexpr = tl.int64 if a.dtype.element_ty == tl.int64 else tl.int32
    total = tl.zeros((BM, BN), wide)
    for _ in range(0, K):
        total += tl.load(a, mask=rows, other=0).to(wide)[:, None] * tl.load(b, mask=columns, other=0).to(wide)[None, :]
        a += ak
        b += bk
    return total


@kernel(
    grid=("cdiv(size(x0, -2), BM) * cdiv(size(x1, -1), BN)", "numel(y0) // max(1, size(x0, -2) * size(x1, -1))"),
    values=STRIDES, constants=SIZES, strided=True, dtypes=TYPES, dims=5,
    warps=lambda BM, BN, BK, TF32: 8 if BM * BN >= 128 * 128 else 4,
)  # fmt: skip
def matmul(
    x0, x1, y0, M, N, K, batch0, batch1, am, ak, a0, a1, a2, bk, bn, b0, b1, b2,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TF32: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(1).to(tl.int64)
    i0 = batch % batch0
    i1 = batch // batch0 % batch1
    i2 = batch // batch0 // batch1
    tile_m, tile_n = tile_of(M, N, BM, BN)
    m = tile_m.to(tl.int64) * BM + tl.arange(0, BM)
    n = tile_n.to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = x0 + i0 * a0 + i1 * a1 + i2 * a2 + m[:, None] * am + k[None, :] * ak
    b = x1 + i0 * b0 + i1 * b1 + i2 * b2 + k[:, None] * bk + n[None, :] * bn
    if x0.dtype.element_ty.is_floating():
        wide: tl.constexpr = tl.float64 if x0.dtype.element_ty == tl.float64 else tl.float32
        total = tl.zeros((BM, BN), wide)
        for first in range(0, K, BK):
            left = tl.load(a, mask=(m < M)[:, None] & (k + first < K)[None, :], other=0.0)
            right = tl.load(b, mask=(k + first < K)[:, None] & (n < N)[None, :], other=0.0)
            if TF32:
                total = tl.dot(left, right, total, input_precision="tf32", out_dtype=wide)
            else:
                total = tl.dot(left, right, total, input_precision="ieee", out_dtype=wide)
            a += BK * ak
            b += BK * bk
    else:
        a = x0 + i0 * a0 + i1 * a1 + i2 * a2 + m * am
        b = x1 + i0 * b0 + i1 * b1 + i2 * b2 + n * bn
        total = whole_product(a, b, m < M, n < N, K, ak, bk, BM, BN)
    y = y0 + batch * M * N + m[:, None] * N + n[None, :]
    tl.store(y, total.to(y0.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])
