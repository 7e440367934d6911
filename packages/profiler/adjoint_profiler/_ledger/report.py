"""Ledgers and their differences as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from .._graph.model import Site, size
from .rows import Row, lines

_MOST, _WIDEST = 20, 60
_WORDS = {"saved": "saved for backward", "leaf": "leaves", "grad": "gradients", "tensor": "other tensors of the program"}


def totals(rows: Iterable[Row]) -> str:
    """``1.5 MiB saved for backward, 2 MiB leaves``."""
    sums: Counter[str] = Counter()
    for r in rows:
        sums[r.kind] += r.bytes
    return ", ".join(f"{size(sums[kind])} {words}" for kind, words in _WORDS.items() if kind in sums) or "nothing"


def place(where: Site | None) -> str:
    return f"{where.short} in {where.scope}" if where else ""


def code(where: Site | None) -> str:
    """The text of a line, as far as a table has room."""
    text = where.code if where else ""
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def line_table(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """For each line: bytes, tensors, the line, what keeps them, the code."""
    table: list[tuple[str, ...]] = []
    for where, group in lines(rows):
        own = [r for r in group if r.bytes]
        if own:
            keepers = Counter(f"{r.owner} {r.label}".strip() for r in own)
            kept = ", ".join(f"{who} x{n}" if n > 1 else who for who, n in keepers.most_common(3)) + ", ..." * (
                len(keepers) > 3
            )
            table.append((size(sum(r.bytes for r in own)), str(len(own)), place(where), kept, code(where)))
    return table


HEAD = ("bytes", "tensors", "line", "kept by", "code")


def text_table(head: Sequence[str], table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table for terminals: numbers to the right; at most twenty rows."""
    shown = [head, *table[:_MOST]]
    widths = [max(len(row[i]) for row in shown) for i in range(len(head))]
    text = []
    for row in shown:
        cells = [cell.rjust(w) if i < 2 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        text.append("  ".join(cells).rstrip())
    return text + ([f"... and {len(table) - _MOST} more"] if len(table) > _MOST else [])


def html_table(title: str, head: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """The same for notebooks."""
    cells = lambda row, tag: "".join(f"<{tag} style='text-align:left'>{escape(c)}</{tag}>" for c in row)  # noqa: E731
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table[:_MOST])
    return f"<div>{escape(title)}<table><tr>{cells(head, 'th')}</tr>{body}</table></div>"
