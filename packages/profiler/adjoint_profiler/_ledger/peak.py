"""How much memory backward will take: its run, acted out with the sizes alone."""

from __future__ import annotations

import functools
import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import adjoint_core
from adjoint_core import _core, registry
from adjoint_engine import _engine

from .._graph.kept import kept_by

# Rules that hand the cotangent on, or a view of it: no memory of their own unless the shape changes.
_PASSING = {
    "add",
    "sub",
    "sum",
    "mean",
    "clone",
    "contiguous",
    "to_dtype",
    "alias",
    "permute",
    "transpose",
    "view",
    "view_as_real",
    "view_as_complex",
}
# Rules of one product or quotient, or of one scatter into zeros that need no memory.
_DIRECT = {"exp", "log", "cummax", "cummin", "fractional_max_pool", "max", "max_pool", "median", "min", "sort", "topk"}
_Record = Mapping[str, Any]


class _Buffers:
    """Memory by its bytes in the books; counted references, and the most that was alive at once."""

    def __init__(self) -> None:
        self.alive = self.peak = 0
        self._sizes: list[int] = []
        self._refs: list[int] = []

    def make(self, size: int) -> int:
        self._sizes.append(size)
        self._refs.append(1)
        self.grow(size)
        return len(self._sizes) - 1

    def grow(self, size: int) -> None:
        self.alive += size
        self.peak = max(self.peak, self.alive)

    def share(self, buffer: int) -> int:
        self._refs[buffer] += 1
        return buffer

    def drop(self, buffer: int) -> None:
        self._refs[buffer] -= 1
        if not self._refs[buffer]:
            self.alive -= self._sizes[buffer]

    def sole(self, buffer: int) -> bool:
        return self._refs[buffer] == 1


def growth(records: Sequence[_Record], roots: Sequence[tuple[int, int]]) -> int:
    """Bytes in the allocator's books that ``backward()`` needs at its worst moment, above what is in use now.

    Saved tensors are given back as their nodes finish, unless the program holds them too. What a rule uses for itself is
    guessed: one buffer of the size of its result, where the derivative is neither linear nor a kernel of its own.
    """
    return _Run(records).run(roots)


class _Run:
    def __init__(self, records: Sequence[_Record]) -> None:
        self._records = records
        self._buffers = _Buffers()
        self._arrived: list[dict[int, tuple[int, int]]] = [{} for _ in records]  # per output: buffer, bytes
        self._device: Any = adjoint_core.device("cpu")  # of the cotangents that the node at hand makes
        self._pending = Counter(source for r in records for source, *_ in r["inputs"])
        self._saved = _Saved(records)

    def run(self, roots: Sequence[tuple[int, int]]) -> int:
        queue: list[tuple[float, int]] = []
        for root, nr in roots:
            self._arrived[root][nr] = self._buffers.make(0), 4
        for i in {root for root, _ in roots}:
            if not self._pending[i]:
                heapq.heappush(queue, self._rank(i))
        while queue:
            i = heapq.heappop(queue)[1]
            self._step(i)
            for source, *_ in self._records[i]["inputs"]:
                self._pending[source] -= 1
                if not self._pending[source]:
                    heapq.heappush(queue, self._rank(source))
        return self._buffers.peak

    def _rank(self, i: int) -> tuple[float, int]:
        seq = self._records[i]["seq"]
        return (-math.inf if seq is None else -seq), i

    def _step(self, i: int) -> None:
        record, arrived, buffers = self._records[i], self._arrived[i], self._buffers
        if not arrived:
            return
        if record["variable"] is not None:
            return self._accumulate(record["variable"], *arrived[0])
        cotangent, size = next(iter(arrived.values()))
        made = []
        for source, nr, _, shape, dtype, device in record["inputs"]:
            bytes_, self._device = _bytes(shape, dtype), device
            passing = (
                record["op"] in _PASSING and record["kind"] != "write" and (bytes_ == size or record["op"] in ("sum", "mean"))
            )
            buffer = buffers.share(cotangent) if passing else buffers.make(_core._booked_bytes(bytes_, device))
            made.append((source, nr, buffer, bytes_))
        temporary = (
            _core._booked_bytes(max((made_bytes for *_, made_bytes in made), default=0), self._device)
            if _is_curved(record["op"])
            else 0
        )
        buffers.grow(temporary)
        buffers.alive -= temporary
        for buffer, _ in arrived.values():
            buffers.drop(buffer)
        buffers.alive -= self._saved.release(i)
        for source, nr, buffer, bytes_ in made:
            self._put(source, nr, buffer, bytes_)

    def _put(self, i: int, nr: int, buffer: int, size: int) -> None:
        """Cotangents that meet are added into a new one."""
        if nr in self._arrived[i]:
            before, _ = self._arrived[i][nr]
            total = self._buffers.make(_core._booked_bytes(size, self._device))
            self._buffers.drop(before)
            self._buffers.drop(buffer)
            buffer = total
        self._arrived[i][nr] = buffer, size

    def _accumulate(self, leaf: Any, buffer: int, size: int) -> None:
        """A first gradient is taken over if nobody else has it, else copied; a later one is added in place."""
        if leaf.grad is None and self._buffers.sole(buffer):
            return
        if leaf.grad is None:
            self._buffers.make(_core._booked_bytes(size, leaf.device))
        self._buffers.drop(buffer)


class _Saved:
    """What is given back when a node has run."""

    def __init__(self, records: Sequence[_Record]) -> None:
        entries = [e for r in records for e in r["saved"]]
        counts = Counter(impl for e in entries for impl, _ in e["chain"][:1])
        held = {impl for e in entries for impl, refs in e["chain"][:1] if refs > counts[impl]}  # by the program too
        known: dict[int, set[int]] = {}
        fixed = {block for r in records if r["variable"] is not None for block, *_ in _engine.memory_blocks(r["variable"])}
        for e in entries:
            for block, *_ in e["blocks"]:
                known.setdefault(block, set()).update(impl for impl, _ in e["chain"])
            if e["chain"] and e["chain"][0][0] in held:
                fixed.update(block for block, *_ in e["blocks"])
        self._blocks = []
        self._users: Counter[int] = Counter()
        for r in records:
            blocks = {block: booked for kept in kept_by(r) for block, _, booked, refs in kept.blocks
                      if block not in fixed and refs <= len(known.get(block, ()))}  # fmt: skip
            self._blocks.append(blocks)
            self._users.update(blocks.keys())

    def release(self, i: int) -> int:
        """Bytes that go with node i."""
        freed = 0
        for block, booked in self._blocks[i].items():
            self._users[block] -= 1
            freed += 0 if self._users[block] else booked
        return freed


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(registry.names())


def _bytes(shape: Sequence[int] | None, dtype: Any) -> int:
    return math.prod(shape or ()) * (dtype or adjoint_core.float32).itemsize


def _is_curved(op: str | None) -> bool:
    if op is None or op in _PASSING or op in _DIRECT or {f"{op}_derivative", f"{op}_vjp"} & _names():
        return False
    return registry.record(op).kind in ("elementwise", "custom")
