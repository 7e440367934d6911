"""One row for each tensor that is kept; each block of memory is counted in one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import _engine

from .._graph.kept import Block, kept_by, value_of
from .._graph.model import Site, Value, site


@dataclass(frozen=True)
class Row:
    """A tensor that is kept, and by whom.

    kind: "leaf", "grad" (of a leaf), "saved" (by a node, for backward) or "tensor" (held by the program).
    owner: the node's name, or what the user calls the tensor. label: what it is to the owner: self, other, result, ctx.mask; or
    where the program holds it. bytes: of memory that no row before counts; booked: the same in the allocator's books, which round
    up and leave out blocks up to 1 KiB. shared: the owner of memory that was counted before. call: the node's sequence number.
    """

    kind: str
    owner: str
    label: str
    value: Value
    bytes: int
    booked: int
    shared: str = ""
    site: Site | None = None
    call: int | None = None


class Rows:
    """Rows in the making: knows which memory is counted already."""

    def __init__(self) -> None:
        self.list: list[Row] = []
        self._owners: dict[int, str] = {}

    def add(
        self,
        kind: str,
        owner: str,
        label: str,
        value: Value,
        blocks: Sequence[Block],
        where: Site | None,
        call: int | None = None,
    ) -> None:
        """A row for one tensor."""
        own = {block: (bytes_, booked) for block, bytes_, booked, _ in blocks if block not in self._owners}
        shared = next((self._owners[block] for block, *_ in blocks if block in self._owners), "")
        self._owners.update(dict.fromkeys(own, owner or label))
        bytes_, booked = (sum(column) for column in zip(*own.values())) if own else (0, 0)
        self.list.append(Row(kind, owner, label, value, bytes_, booked, shared, where, call))

    def add_tensor(self, kind: str, owner: str, label: str, t: Tensor, where: Site | None) -> None:
        """A row for a tensor at hand."""
        self.add(kind, owner, label, value_of(t.shape, t.dtype), _engine.memory_blocks(t), where)

    def add_graph(self, records: Iterable[Mapping[str, Any]], names: Mapping[tuple[int, int], str]) -> None:
        """Leaves with their gradients, then what nodes save, oldest first."""
        records = list(records)
        for record in records:
            if (leaf := record["variable"]) is not None:
                name = names.get((record["key"], 0), "leaf")
                self.add_tensor("leaf", name, "", leaf, site(record["site"]))
                if leaf.grad is not None:
                    self.add_tensor("grad", f"{name}.grad", "", leaf.grad, site(record["site"]))
        for record in sorted((r for r in records if r["seq"] is not None), key=lambda r: r["seq"]):
            for kept in kept_by(record):
                self.add("saved", record["name"], kept.label, kept.value, kept.blocks, site(record["site"]), record["seq"])


def lines(rows: Iterable[Row]) -> Iterator[tuple[Site | None, list[Row]]]:
    """Rows by the line that made them, the heaviest line first."""
    groups: dict[Site | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.site, []).append(row)
    yield from sorted(groups.items(), key=lambda item: -sum(r.bytes for r in item[1]))
