"""Attention in one pass over the keys, without the matrix of all weights (FlashAttention).

A program holds a block of queries and goes over blocks of keys. The softmax of a row is made as it comes (online): beside the largest score
so far stand the sum of exponentials and the weighted sum of values, both relative to it; where a larger score comes, they shrink by
exp(old - new). At the end y is the quotient, and the logarithm of the row's sum of exponentials is all that is kept of its weights: in
backward P = exp(score - logarithm). With w the cotangent of y, that of a score is D = P (w v' - rowsum(w y)); a program of
`attention_of_queries` goes over keys and sums D k, one of `attention_of_keys` over queries and sums D' q, one of `attention_of_values` P' w.
Each sums in one order: no atomics, the same bits
every time. Causal: blocks above the diagonal are not visited. Dropout multiplies P, and w v', by factors that each kernel draws again: the bits
that `dropout` of all weights has, four elements a block of random words where rows begin at one.

Milakov and Gimelshein, Online normalizer calculation for softmax, arXiv:1805.02867; Dao et al., FlashAttention, arXiv:2205.14135; Dao,
FlashAttention-2, arXiv:2307.08691.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from .._structured import kernel, sequence, step
from .._templates import widened
from .random import row

ROOM = "(1 if itemsize(x0) < 8 else 4)"  # what float64 takes more
TILES = {
    "BE": "max(16, next_pow2(size(x0, -1)))",
    "BD": "max(16, next_pow2(size(x2, -1)))",
    "BM": f"max(16, (64 if max(BE, BD) < 65 else 32 if max(BE, BD) * itemsize(x0) < 257 else 16) // {ROOM})",
    "BN": "32 if max(BE, BD) * itemsize(x0) < 257 else 16",
    "CAUSAL": "causal",
    "TF32": "tf32 if itemsize(x0) == 4 else 0",
    "DROPS": "0 if lost == 0 else 1 if size(x1, 2) % 4 else 4",
}
SIZES = {"H": "size(x0, 1)", "L": "size(x0, 2)", "S": "size(x1, 2)", "E": "size(x0, 3)", "D": "size(x2, 3)"}
DRAWN = {name: f"long({name})" for name in ("lost", "seed", "offset", "state")}
ROWS = "cdiv(size(x0, 2), BM) * size(x0, 0) * size(x0, 1)"
COLUMNS = "cdiv(size(x1, 2), BN) * size(x1, 0) * size(x1, 1)"


def options(mask, grid):
    """The declaration of a kernel whose last operand, if it is there, is a mask; its dimensions of one element stand for all.
    Derivatives with dropout would spill registers with four warps."""
    count = int(mask[1:])
    steps = ["1"]
    for d in (3, 2, 1):
        steps.insert(0, f"{steps[0]} * size({mask}, {d})")
    return {
        "grid": grid,
        "constants": {**TILES, "MASKED": f"1 if inputs == {count + 1} else 0"},
        "values": {**SIZES, **DRAWN, **{f"m{d}": f"({step} if 1 < size({mask}, {d}) else 0) if MASKED else 0" for d, step in enumerate(steps)}},
        "dtypes": ("float16", "bfloat16", "float32", "float64"),
        "warps": lambda BE, BD, BM, BN, CAUSAL, TF32, DROPS, MASKED: 8 if max(BE, BD) > 64 or DROPS and count > 3 else 4,
    }  # fmt: skip


@triton.jit
def product(a, b, total, TF32: tl.constexpr):
    wide: tl.constexpr = total.dtype
    if TF32:
        return tl.dot(a, b, total, input_precision="tf32", out_dtype=wide)
    return tl.dot(a, b, total, input_precision="ieee", out_dtype=wide)


@triton.jit
def rows(x, head, i, e, N, E):
    """Rows i of a head's matrix (N, E), filled up with zeros."""
    there = (i < N)[:, None] & (e < E)[None, :]
    return tl.load(x + head * N * E + i[:, None] * E + e[None, :], mask=there, other=0.0)


@triton.jit
def put(y, head, i, e, N, E, value):
    there = (i < N)[:, None] & (e < E)[None, :]
    tl.store(y + head * N * E + i[:, None] * E + e[None, :], value.to(y.dtype.element_ty), mask=there)


@triton.jit
def scores(
    q,
    k,
    mask,
    head,
    i,
    j,
    scale,
    H,
    L,
    S,
    m0,
    m1,
    m2,
    m3,
    total,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
    TF32: tl.constexpr,
):
    """Of queries i and keys j, (BM, BN): -inf where a query does not see a key, and outside."""
    s = product(q, tl.trans(k), total, TF32) * scale
    seen = (i < L)[:, None] & (j < S)[None, :]
    if MASKED:
        at = mask + head // H * m0 + head % H * m1 + i[:, None] * m2 + j[None, :] * m3
        s += tl.load(at, mask=seen, other=0.0).to(s.dtype)
    if CAUSAL:
        seen = seen & (j[None, :] <= i[:, None])
    return tl.where(seen, s, -float("inf"))


@triton.jit
def drawn(lost, kept, seed, offset, state, DROPS: tl.constexpr):
    """What `dropped` takes: in a captured graph, seed and offset are relative to those of the replay."""
    if DROPS:
        captured = state.to(tl.pointer_type(tl.int64))
        seed += tl.load(captured, mask=state != 0, other=0)
        offset += tl.load(captured + 1, mask=state != 0, other=0)
    return lost, kept, seed, offset


@triton.jit
def dropped(p, drops, head, i, start, L, S, DROPS: tl.constexpr):
    """p, of queries i and keys from `start` on, times what dropout has for them."""
    if DROPS:
        lost, kept, seed, offset = drops
        BN: tl.constexpr = p.shape[1]
        at = ((head * L + i) * S + start)[:, None] + tl.arange(0, BN // DROPS)[None, :] * DROPS
        block, call = at >> 2, at * 0 + offset
        a, b, c, d = tl.philox(
            seed, block.to(tl.uint32), (block >> 32).to(tl.uint32), call.to(tl.uint32), (call >> 32).to(tl.uint32)
        )
        if DROPS == 4:
            word = row(a, b, c, d)
        else:
            word = tl.where((at & 2) == 0, tl.where((at & 1) == 0, a, b), tl.where((at & 1) == 0, c, d))
        p *= tl.where(word > (lost - 1).to(tl.uint32), kept, 0.0).to(p.dtype)
    return p


@kernel(**options("x3", ROWS))
def attention(
    x0, x1, x2, x3, y0, y1, scale, H, L, S, E, D, m0, m1, m2, m3, lost, kept, seed, offset, state,
    BE: tl.constexpr, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, TF32: tl.constexpr,
    DROPS: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    wide: tl.constexpr = y1.dtype.element_ty
    blocks = tl.cdiv(L, BM)
    head = tl.program_id(0).to(tl.int64) // blocks
    drops = drawn(lost, kept, seed, offset, state, DROPS)
    first = tl.program_id(0) % blocks * BM
    i, e, d = first.to(tl.int64) + tl.arange(0, BM), tl.arange(0, BE), tl.arange(0, BD)
    q = rows(x0, head, i, e, L, E)
    most = tl.full((BM,), -float("inf"), wide)
    total = tl.zeros((BM,), wide)
    y = tl.zeros((BM, BD), wide)
    last = tl.minimum(S, first + BM) if CAUSAL else S
    for start in range(0, last, BN):
        j = start + tl.arange(0, BN).to(tl.int64)
        k = rows(x1, head, j, e, S, E)
        s = scores(q, k, x3, head, i, j, scale, H, L, S, m0, m1, m2, m3, tl.zeros((BM, BN), wide), MASKED, CAUSAL, TF32)
        larger = tl.maximum(most, tl.max(s, 1))
        level = tl.where(larger == -float("inf"), 0.0, larger)
        p = libdevice.exp(s - level[:, None])
        shrunk = libdevice.exp(most - level)
        v = rows(x2, head, j, d, S, D)
        total = total * shrunk + tl.sum(p, 1)
        y = product(dropped(p, drops, head, i, start, L, S, DROPS).to(v.dtype), v, y * shrunk[:, None], TF32)
        most = larger
    put(y0, head, i, d, L, D, y / total[:, None])
    tl.store(y1 + head * L + i, most + libdevice.log(total), mask=i < L)


@triton.jit
def weights(x0, x1, x5, x6, head, i, j, e, scale, H, L, S, E, m0, m1, m2, m3, total,
            MASKED: tl.constexpr, CAUSAL: tl.constexpr, TF32: tl.constexpr):  # fmt: skip
    """P of queries i and keys j, with both."""
    q, k = rows(x0, head, i, e, L, E), rows(x1, head, j, e, S, E)
    s = scores(q, k, x6, head, i, j, scale, H, L, S, m0, m1, m2, m3, total, MASKED, CAUSAL, TF32)
    logarithm = tl.load(x5 + head * L + i, mask=i < L, other=0.0)
    return libdevice.exp(s - logarithm[:, None]), q, k


@triton.jit
def of_scores(p, w, y, v, drops, head, i, start, L, S, DROPS: tl.constexpr, TF32: tl.constexpr):
    """D: the cotangent of scores, from the weights of queries i and keys from `start` on."""
    along = tl.sum(widened(w) * widened(y), 1)
    of_weights = dropped(product(w, tl.trans(v), tl.zeros_like(p), TF32), drops, head, i, start, L, S, DROPS)
    return p * (of_weights - along[:, None])


@step(**options("x6", ROWS))
def attention_of_queries(
    x0, x1, x2, x3, x4, x5, x6, y0, scale, H, L, S, E, D, m0, m1, m2, m3, lost, kept, seed, offset, state,
    BE: tl.constexpr, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, TF32: tl.constexpr,
    DROPS: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    wide: tl.constexpr = x5.dtype.element_ty
    blocks = tl.cdiv(L, BM)
    head = tl.program_id(0).to(tl.int64) // blocks
    drops = drawn(lost, kept, seed, offset, state, DROPS)
    first = tl.program_id(0) % blocks * BM
    i, e, d = first.to(tl.int64) + tl.arange(0, BM), tl.arange(0, BE), tl.arange(0, BD)
    w, y = rows(x3, head, i, d, L, D), rows(x4, head, i, d, L, D)
    r = tl.zeros((BM, BE), wide)
    last = tl.minimum(S, first + BM) if CAUSAL else S
    for start in range(0, last, BN):
        j = start + tl.arange(0, BN).to(tl.int64)
        none = tl.zeros((BM, BN), wide)
        p, _, k = weights(x0, x1, x5, x6, head, i, j, e, scale, H, L, S, E, m0, m1, m2, m3, none, MASKED, CAUSAL, TF32)
        of_score = of_scores(p, w, y, rows(x2, head, j, d, S, D), drops, head, i, start, L, S, DROPS, TF32)
        r = product(of_score.to(k.dtype), k, r, TF32)
    put(y0, head, i, e, L, E, r * scale)


@step(**options("x6", COLUMNS))
def attention_of_keys(
    x0, x1, x2, x3, x4, x5, x6, y1, scale, H, L, S, E, D, m0, m1, m2, m3, lost, kept, seed, offset, state,
    BE: tl.constexpr, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, TF32: tl.constexpr,
    DROPS: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    wide: tl.constexpr = x5.dtype.element_ty
    blocks = tl.cdiv(S, BN)
    head = tl.program_id(0).to(tl.int64) // blocks
    drops = drawn(lost, kept, seed, offset, state, DROPS)
    first = tl.program_id(0) % blocks * BN
    j, e, d = first.to(tl.int64) + tl.arange(0, BN), tl.arange(0, BE), tl.arange(0, BD)
    v = rows(x2, head, j, d, S, D)
    r = tl.zeros((BN, BE), wide)
    for start in range(first // BM * BM if CAUSAL else 0, L, BM):
        i = start + tl.arange(0, BM).to(tl.int64)
        none = tl.zeros((BM, BN), wide)
        p, q, _ = weights(x0, x1, x5, x6, head, i, j, e, scale, H, L, S, E, m0, m1, m2, m3, none, MASKED, CAUSAL, TF32)
        w, y = rows(x3, head, i, d, L, D), rows(x4, head, i, d, L, D)
        of_score = of_scores(p, w, y, v, drops, head, i, first, L, S, DROPS, TF32)
        r = product(tl.trans(of_score.to(q.dtype)), q, r, TF32)
    put(y1, head, j, e, S, E, r * scale)


@step(**options("x6", COLUMNS))
def attention_of_values(
    x0, x1, x2, x3, x4, x5, x6, y2, scale, H, L, S, E, D, m0, m1, m2, m3, lost, kept, seed, offset, state,
    BE: tl.constexpr, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, TF32: tl.constexpr,
    DROPS: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    wide: tl.constexpr = x5.dtype.element_ty
    blocks = tl.cdiv(S, BN)
    head = tl.program_id(0).to(tl.int64) // blocks
    drops = drawn(lost, kept, seed, offset, state, DROPS)
    first = tl.program_id(0) % blocks * BN
    j, e, d = first.to(tl.int64) + tl.arange(0, BN), tl.arange(0, BE), tl.arange(0, BD)
    r = tl.zeros((BN, BD), wide)
    for start in range(first // BM * BM if CAUSAL else 0, L, BM):
        i = start + tl.arange(0, BM).to(tl.int64)
        none = tl.zeros((BM, BN), wide)
        p, _, _ = weights(x0, x1, x5, x6, head, i, j, e, scale, H, L, S, E, m0, m1, m2, m3, none, MASKED, CAUSAL, TF32)
        w = rows(x3, head, i, d, L, D)
        r = product(tl.trans(dropped(p, drops, head, i, first, L, S, DROPS).to(w.dtype)), w, r, TF32)
    put(y2, head, j, d, S, D, r)


sequence("attention_vjp", steps=[attention_of_queries, attention_of_keys, attention_of_values])
