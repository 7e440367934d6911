"""What is kept in memory, by whom and from which line: ``ledger``; what grew between two of them: ``after - before``."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adjoint_core import _core, cuda
from adjoint_engine import _engine

from ._graph import names as _names
from ._graph.capture import outputs_of
from ._graph.model import Site, Value, site, size
from ._ledger import reach, report
from ._ledger.peak import growth
from ._ledger.rows import Row, Rows

__all__ = ["Change", "Ledger", "LedgerDiff", "Row", "ledger"]


class Ledger:
    """Rows of what is kept, each block of memory counted once; ``print`` shows them by line, ``after - before`` what grew.

    rows: one for each tensor that is kept, those that share memory too (with 0 bytes and the owner of the memory).
    live: bytes in the allocators' books when the ledger was made, of the CPU and all GPUs together. The books of the CPU count
        blocks over 1 KiB, rounded up; those of GPUs pieces of 512 bytes.
    predicted_peak: of `live` while ``backward()`` runs; None for a ledger of the whole program.
    """

    def __init__(self, rows: Sequence[Row], live: int, predicted_peak: int | None) -> None:
        self.rows = list(rows)
        self.live = live
        self.predicted_peak = predicted_peak

    @property
    def saved_bytes(self) -> int:
        """Bytes kept for backward alone: neither leaves nor gradients."""
        return sum(r.bytes for r in self.rows if r.kind == "saved")

    @property
    def booked(self) -> int:
        """All rows, counted as the allocator does: equal to `live` where the ledger knows everything."""
        return sum(r.booked for r in self.rows)

    def __sub__(self, before: Ledger) -> LedgerDiff:
        return LedgerDiff(before, self)

    def _title(self) -> str:
        peak = f"; backward will need up to {size(self.predicted_peak)}" if self.predicted_peak is not None else ""
        return f"{report.totals(self.rows)}. {size(self.live)} in use{peak}."

    def __repr__(self) -> str:
        return "\n".join([self._title(), *report.text_table(report.HEAD, report.line_table(self.rows))])

    def _repr_html_(self) -> str:
        return report.html_table(self._title(), report.HEAD, report.line_table(self.rows))


_Key = tuple[str, str, str, Value, Site | None]


class Change:
    """What became more (or less) of one kind of row: the line, the owner, how many tensors and bytes."""

    def __init__(self, key: _Key, count: int, bytes_: int) -> None:
        self.kind, self.owner, self.label, self.value, self.site = key
        self.count = count
        self.bytes = bytes_

    def _cells(self) -> tuple[str, ...]:
        grown, who = f"{'+' if self.bytes > 0 else ''}{size(self.bytes)}", f"{self.owner} {self.label}".strip()
        return grown, f"{self.count:+d}", report.place(self.site), f"{who} {self.value}", report.code(self.site)


class LedgerDiff:
    """What differs between two ledgers: ``changes``, what grew most first. A program that leaks names its line here."""

    def __init__(self, before: Ledger, after: Ledger) -> None:
        counts: Counter[_Key] = Counter()
        sizes: Counter[_Key] = Counter()
        for sign, book in ((-1, before), (1, after)):
            for r in book.rows:
                key = r.kind, r.owner, r.label, r.value, r.site
                counts[key] += sign
                sizes[key] += sign * r.bytes
        found = [Change(key, counts[key], sizes[key]) for key in counts if counts[key] or sizes[key]]
        self.changes = sorted(found, key=lambda c: (-c.bytes, -c.count))
        self.bytes = sum(c.bytes for c in found)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def _title(self) -> str:
        return f"{'+' if self.bytes > 0 else ''}{size(self.bytes)}" if self.changes else "nothing changed"

    def __repr__(self) -> str:
        table = [c._cells() for c in self.changes]
        return "\n".join([self._title(), *(report.text_table(report.HEAD, table) if table else ())])

    def _repr_html_(self) -> str:
        return report.html_table(self._title(), report.HEAD, [c._cells() for c in self.changes])


def ledger(outputs: Any = None, *, names: Mapping[str, Any] | None = None) -> Ledger:
    """What is kept in memory: by the graph behind tensors, or by the whole program.

    With `outputs`: their leaves, gradients and all that nodes save for backward, and the peak that ``backward()`` will reach.
    Without: also every tensor that the program holds anywhere, with the graphs behind all of them.

    Arguments:
        outputs: a tensor, or any nesting of containers of tensors; at least one requires grad.
        names: what to call tensors; the variables of the caller are found anyhow.

    Raises:
        ValueError: nothing in `outputs` requires grad.

    Example::

        >>> w = ad.ones(1000, requires_grad=True)
        >>> book = ledger((w.exp() * w).sum())
        >>> book.saved_bytes
        4000
        >>> [(r.owner, r.label, r.shared) for r in book.rows if r.kind == "saved"]
        [('ExpBackward0', 'result', ''), ('MulBackward0', 'self', 'ExpBackward0'), ('MulBackward0', 'other', 'w')]
    """
    live = _live()
    known = _names.of_frame(sys._getframe(1)) | _names.of_mapping(names or {})
    rows = Rows()
    if outputs is None:
        _add_program(rows, known)
        return Ledger(rows.list, live, None)
    records, roots = _engine.graph_nodes(outputs_of(outputs, "ledger"))
    rows.add_graph(records, known)
    return Ledger(rows.list, live, live + growth(records, roots))


def _live() -> int:
    gpus = range(cuda.device_count()) if cuda.is_initialized() else ()
    return _core._memory_stats()[0] + sum(map(cuda.memory_allocated, gpus))


def _add_program(rows: Rows, names: Mapping[_names.Key, str]) -> None:
    """Everything: graphs behind all tensors and nodes that Python reaches, then the tensors themselves."""
    tensors, nodes = reach.held()
    retained = [(t.grad, f"{name}.grad") for t, name, _ in tensors if t.retains_grad and t.grad is not None]
    roots: list[Any] = [t for t in [*(t for t, *_ in tensors), *(grad for grad, _ in retained)] if t.requires_grad]
    roots += nodes
    records, known = _engine.graph_nodes(roots)[0], -1
    while known != len(records):  # gradients may have graphs of their own
        leaves = [r["variable"] for r in records if r["variable"] is not None]
        known, grads = len(records), [t.grad for t in leaves if t.grad is not None and t.grad.requires_grad]
        records = _engine.graph_nodes(roots + grads)[0]
    rows.add_graph(records, names)
    for grad, name in retained:
        rows.add_tensor("grad", name, "", grad, None)
    in_graphs = set(map(id, leaves))
    for t, name, where in tensors:
        if id(t) not in in_graphs:
            fn = t.grad_fn
            made = site(_engine.node_site(fn)) if fn is not None else None
            owner = names.get(_engine.edge_key(t), name) if t.requires_grad else name
            owner = re.sub(r"\[.*?\]", "[...]", owner)  # members of one list are one kind of thing: ledgers are compared
            rows.add_tensor("tensor", owner, where, t, made)
