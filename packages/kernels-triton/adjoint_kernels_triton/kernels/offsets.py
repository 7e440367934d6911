"""Where the parts of a result begin: counts, one for each block of elements, become the sums of those before them.

This is the scan of a whole device that sorting and compaction stand on. A line of up to CHUNK counts is scanned by one program; a longer one
in three steps: the total of each chunk, the scan of those, and the scan of each chunk, which starts from its total.
"""

import triton
import triton.language as tl

from .._structured import Step, step

CHUNK = 4096


@triton.jit
def scan_line(line, n, CHUNK: tl.constexpr):
    """The counts of a line become the sums of those before them."""
    carried = tl.load(line) * 0
    for first in range(0, n, CHUNK):
        i = first + tl.arange(0, CHUNK)
        x = tl.load(line + i, mask=i < n, other=0)
        tl.store(line + i, carried + tl.cumsum(x, 0) - x, mask=i < n)
        carried += tl.sum(x, 0)


def scan_counts(counts, entries, CHUNK: tl.constexpr):
    scan_line(counts + tl.program_id(0).to(tl.int64) * entries, entries, CHUNK)


def total_of_chunk(counts, totals, entries, chunks, CHUNK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    i = p % chunks * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(counts + p // chunks * entries + i, mask=i < entries, other=0)
    tl.store(totals + p, tl.sum(x, 0))


def scan_totals(totals, chunks, CHUNK: tl.constexpr):
    scan_line(totals + tl.program_id(0).to(tl.int64) * chunks, chunks, CHUNK)


def scan_chunk(counts, totals, entries, chunks, CHUNK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    i = p % chunks * CHUNK + tl.arange(0, CHUNK)
    at = counts + p // chunks * entries + i
    x = tl.load(at, mask=i < entries, other=0)
    tl.store(at, tl.load(totals + p) + tl.cumsum(x, 0) - x, mask=i < entries)


def offsets(lines: str, entries: str, when: str = "1") -> list[Step]:
    """The steps that scan the workspace `counts`, (lines, entries); formulas, as is when. See `workspace`."""
    chunks = f"cdiv({entries}, {CHUNK})"
    short, long = f"({when}) * ({chunks} < 2)", f"({when}) * (1 < {chunks})"
    of_chunks = {"grid": f"{lines} * {chunks}", "values": {"entries": entries, "chunks": chunks}, "constants": {"CHUNK": CHUNK}}
    block = {"CHUNK": f"min(next_pow2({entries}), {CHUNK})"}
    return [
        step(grid=lines, values={"entries": entries}, constants=block, when=short)(scan_counts),
        step(**of_chunks, when=long)(total_of_chunk),
        step(grid=lines, values={"chunks": chunks}, constants={"CHUNK": 1024}, when=long)(scan_totals),
        step(**of_chunks, when=long)(scan_chunk),
    ]


def workspace(lines: str, entries: str) -> dict[str, tuple[str, str]]:
    """What `offsets` and those that count write to."""
    return {"counts": ("int64", f"{lines} * ({entries})"), "totals": ("int64", f"{lines} * cdiv({entries}, {CHUNK})")}
