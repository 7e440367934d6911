"""Where elements are not zero, in row-major order: each block counts its own, the counts are scanned, and each block writes from there on.

How many there are in all the host has read before, for the size of the result.
"""

import triton
import triton.language as tl

from .._structured import sequence, step
from .._templates import widened
from .offsets import offsets, workspace

BLOCK = 1024
BLOCKS = f"cdiv(numel(x0), {BLOCK})"
HOW = {"grid": BLOCKS, "constants": {"PARTS": "parts(x0)", "BLOCK": BLOCK}, "warps": lambda *constants: 8}


@triton.jit
def truths(x0, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """Positions of this program's elements, and whether each is not zero."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    found = widened(tl.load(x0 + i * PARTS, mask=i < count, other=0)) != 0
    if PARTS == 2:
        found = found | (tl.load(x0 + i * 2 + 1, mask=i < count, other=0) != 0)
    return i, found.to(tl.int32)


@step(**HOW, values={"count": "numel(x0)"}, when="round == 0")
def found(x0, counts, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(counts + tl.program_id(0), tl.sum(truths(x0, count, PARTS, BLOCK)[1], 0))


@step(
    **HOW, values={"count": "numel(x0)", "dims": "dims(x0)", "turn": "round", "size": "size(x0, round)", "stride": "max(stride(x0, round), 1)"}
)  # fmt: skip
def put_coordinate(x0, y0, counts, count, dims, turn, size, stride, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """Coordinates along one dimension, a round for each."""
    i, there = truths(x0, count, PARTS, BLOCK)
    to = tl.load(counts + tl.program_id(0)) + tl.cumsum(there, 0) - there
    tl.store(y0 + to * dims + turn, i // stride % size, mask=there != 0)


sequence(
    "nonzero", steps=[found, *offsets("1", BLOCKS, "round == 0"), put_coordinate], workspace=workspace("1", BLOCKS),
    rounds="dims(x0)", complex=True,
)  # fmt: skip
