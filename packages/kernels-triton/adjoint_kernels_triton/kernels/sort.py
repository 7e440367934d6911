"""Sorting along a dimension, stable: sort, topk, median and nanmedian. NaN counts as larger than every number.

Elements become keys, integers in the order that is wanted. In a line of up to SHORT of them each counts those that come before it, and goes
there. A longer one is sorted by radix, from the last digit to the first: each round counts the digits in each block, sums up where in
the line each block's elements of each digit begin (`offsets`), and moves them there, from one half of `values` and `order` to the other.
That is the sort of Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs" (2009).
"""

import triton
import triton.language as tl

from .._structured import Step, sequence, step
from .._templates import widened
from .offsets import offsets, workspace
from .reduce import starts

SHORT = 512
BLOCK = 1024
BITS = tl.constexpr(4)  # of a digit, of which there are 16


@triton.jit
def key_of(x, DOWN: tl.constexpr):
    """An unsigned integer of x's width: smaller ones come first. Zeros of both signs are equal, and all NaN."""
    if x.dtype == tl.int1:
        key = x.to(tl.uint8)
        if DOWN:
            key = 1 - key
    else:
        bits: tl.constexpr = x.dtype.primitive_bitwidth
        unsigned: tl.constexpr = tl.uint8 if bits == 8 else tl.uint16 if bits == 16 else tl.uint32 if bits == 32 else tl.uint64
        if x.dtype.is_floating():
            b = x.to(unsigned, bitcast=True)
            top = (b * 0 + 1) << (bits - 1)
            key = tl.where((b & top) != 0, ~b, b | top)
            key = tl.where(widened(x) == 0, top, key)
            key = tl.where(widened(x) != widened(x), ~(b * 0), key)
        else:
            key = x.to(unsigned, bitcast=True)
            if x.dtype.is_int_signed():
                key = key ^ ((key * 0 + 1) << (bits - 1))
        if DOWN:
            key = ~key
    return key


# ---- short lines: one program sorts ROWS of them


@triton.jit
def short_lines(x0, n, outer, inner, DOWN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """This program's lines and elements, which of those there are, and how many come before each."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    there = row < outer * inner
    j = tl.arange(0, BLOCK)[None, :]
    start, inside = starts(row, n, inner), there[:, None] & (j < n)
    x = tl.load(x0 + start[:, None] + j * inner, mask=inside, other=0)
    key = key_of(x, DOWN)
    rank = tl.zeros((ROWS, BLOCK), tl.int32)
    for i in range(0, n):
        other = key_of(tl.load(x0 + start + i * inner, mask=there, other=0), DOWN)[:, None]
        rank += ((other < key) | ((other == key) & (i < j))).to(tl.int32)
    return row, x, j, inside, rank


def put_short(x0, y0, y1, n, k, outer, inner, DOWN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The first k of each line's elements in order."""
    row, x, j, inside, rank = short_lines(x0, n, outer, inner, DOWN, ROWS, BLOCK)
    to, wanted = starts(row, k, inner)[:, None] + rank * inner, inside & (rank < k)
    tl.store(y0 + to, x, mask=wanted)
    tl.store(y1 + to, j, mask=wanted)


@triton.jit
def middle(numbers, n, SKIPS_NAN: tl.constexpr):
    """Where in the order the median is, of n elements of which some are numbers: the first NaN, if there is one and none is skipped."""
    if SKIPS_NAN:
        at = tl.maximum(numbers - 1, 0) // 2
    else:
        at = tl.where(numbers < n, numbers, (n - 1) // 2)
    return at


def median_short(x0, y0, y1, n, outer, inner, SKIPS_NAN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, x, j, inside, rank = short_lines(x0, n, outer, inner, False, ROWS, BLOCK)
    numbers = tl.min(tl.where((widened(x) != widened(x)) & inside, rank, n), 1)
    chosen = inside & (rank == middle(numbers, n, SKIPS_NAN)[:, None])
    to = tl.broadcast_to(row[:, None], (ROWS, BLOCK))
    tl.store(y0 + to, x, mask=chosen)
    tl.store(y1 + to, j, mask=chosen)


# ---- long lines


@triton.jit
def elements(x0, values, n, inner, blocks, total, shift, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    """This program's elements, their line, where in it they lie, and the half that they are read from."""
    p = tl.program_id(0).to(tl.int64)
    row, j = p // blocks, p % blocks * BLOCK + tl.arange(0, BLOCK)
    source = shift // BITS % 2 * total
    if FIRST:
        x = tl.load(x0 + starts(row, n, inner) + j * inner, mask=j < n, other=0)
    else:
        x = tl.load(values + source + row * n + j, mask=j < n, other=0)
    return x, row, j, source


@triton.jit
def digits_of(x, there, shift, DOWN: tl.constexpr):
    """Digits, and for each element four words of four counters, 16 bits wide: one where its own digit's is."""
    key = key_of(x, DOWN)
    digit = (key >> (shift // BITS * BITS).to(key.dtype)).to(tl.int32) & 15
    one = (digit.to(tl.int64) * 0 + 1) << (digit % 4 * 16)
    word = digit[:, None] // 4 == tl.arange(0, 4)[None, :]
    return digit, tl.where(word & there[:, None], one[:, None], 0)


def count(x0, values, counts, n, inner, blocks, total, shift, DOWN: tl.constexpr, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    x, row, j, source = elements(x0, values, n, inner, blocks, total, shift, FIRST, BLOCK)
    digit, one = digits_of(x, j < n, shift, DOWN)
    many = tl.sum(one, 0)[:, None] >> (tl.arange(0, 4) * 16)[None, :] & 0xFFFF
    digit = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(counts + (row * 16 + digit) * blocks + tl.program_id(0) % blocks, many)


def move(
    x0, values, order, counts, n, inner, blocks, total, shift, DOWN: tl.constexpr, FIRST: tl.constexpr, BLOCK: tl.constexpr
):
    x, row, j, source = elements(x0, values, n, inner, blocks, total, shift, FIRST, BLOCK)
    digit, one = digits_of(x, j < n, shift, DOWN)
    before = tl.sum(tl.where(one != 0, tl.cumsum(one, 0) - one, 0), 1) >> (digit % 4 * 16) & 0xFFFF
    start = tl.load(counts + (row * 16 + digit) * blocks + tl.program_id(0) % blocks)
    to = total - source + row * n + start + before
    if FIRST:
        i = j.to(tl.int32)
    else:
        i = tl.load(order + source + row * n + j, mask=j < n, other=0)
    tl.store(values + to, x, mask=j < n)
    tl.store(order + to, i, mask=j < n)


def deliver(values, order, y0, y1, n, k, inner, blocks, BLOCK: tl.constexpr):
    """The first k of each line."""
    p = tl.program_id(0).to(tl.int64)
    row, j = p // blocks, p % blocks * BLOCK + tl.arange(0, BLOCK)
    at, to = row * n + j, starts(row, k, inner) + j * inner
    tl.store(y0 + to, tl.load(values + at, mask=j < k, other=0), mask=j < k)
    tl.store(y1 + to, tl.load(order + at, mask=j < k, other=0), mask=j < k)


def deliver_median(values, order, y0, y1, n, lines, SKIPS_NAN: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < lines
    at = row * n
    low, high = row * 0, row * 0 + n  # between them lies the first NaN, behind all numbers
    for _ in range(0, 32):
        i = (low + high) // 2
        x = widened(tl.load(values + at + i, mask=there & (low < high), other=0))
        low, high = tl.where((low < high) & (x == x), i + 1, low), tl.where((low < high) & (x != x), i, high)
    at += middle(low, n, SKIPS_NAN)
    tl.store(y0 + row, tl.load(values + at, mask=there, other=0), mask=there)
    tl.store(y1 + row, tl.load(order + at, mask=there, other=0), mask=there)


# ---- the operations

LINES = "outer * inner"
BLOCKS = f"cdiv(n, {BLOCK})"
SHORT_ROWS = {"ROWS": "max(1, 512 // next_pow2(n))", "BLOCK": "next_pow2(n)"}
IN_SHORT, IN_LONG = {"when": f"n < {SHORT + 1}", "grid": f"cdiv({LINES}, ROWS)"}, f"{SHORT} < n"
AT_LAST = f"({IN_LONG}) * (round == rounds - 1)"


def radix(down: str) -> list[Step]:
    """One round over long lines, by decreasing values where the formula `down` is not 0."""
    each = {
        "grid": f"{LINES} * {BLOCKS}", "when": IN_LONG, "warps": lambda *constants: 8,
        "values": {"blocks": BLOCKS, "total": "numel(x0)", "shift": f"{BITS.value} * round + 3"},  # never 1 nor 16: one variant for all rounds
        "constants": {"DOWN": down, "FIRST": "round == 0", "BLOCK": BLOCK},
    }  # fmt: skip
    return [step(**each)(count), *offsets(LINES, f"16 * {BLOCKS}", IN_LONG), step(**each)(move)]


def firsts(k: str, down: str) -> list[Step]:
    """What puts the first k elements of sorted lines into the results."""
    blocks = f"cdiv({k}, {BLOCK})"
    return [
        step(**IN_SHORT, values={"k": k}, constants={"DOWN": down, **SHORT_ROWS})(put_short),
        *radix(down),
        step(
            grid=f"{LINES} * {blocks}",
            when=AT_LAST,
            values={"k": k, "blocks": blocks},
            constants={"BLOCK": BLOCK},
        )(deliver),
    ]


HOW = {
    "along": "dim",
    "longest": 2**31 - 1,
    "rounds": f"{8 // BITS.value} * itemsize(x0) if {IN_LONG} else 1",
    "workspace": {
        "values": ("x0", f"2 * numel(x0) if {IN_LONG} else 0"),
        "order": ("int32", f"2 * numel(x0) if {IN_LONG} else 0"),
        **workspace(LINES, f"16 * {BLOCKS} if {IN_LONG} else 0"),
    },
}


def medians(skips_nan: int) -> list[Step]:
    return [
        step(**IN_SHORT, constants={"SKIPS_NAN": skips_nan, **SHORT_ROWS})(median_short),
        *radix("0"),
        step(
            grid=f"cdiv({LINES}, BLOCK)",
            when=AT_LAST,
            values={"lines": LINES},
            constants={"SKIPS_NAN": skips_nan, "BLOCK": f"min(128, next_pow2({LINES}))"},
        )(deliver_median),
    ]


sequence("sort", steps=firsts("n", "descending"), **HOW)
sequence("topk", steps=firsts("size(y0, dim)", "largest"), **HOW)
sequence("median", steps=medians(0), **HOW)
sequence("nanmedian", steps=medians(1), **HOW)
