"""Counts by module and operation as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["table"]

_SUFFIXES = ("", "K", "M", "B", "T")
_HEADER = ("Module", "FLOP", "% Total")


def _scale(total: int) -> int:
    """The power of 1000 in which all counts are told: the total has two to four digits in front of the point."""
    return max(0, min(len(_SUFFIXES) - 1, (len(str(total)) - 2) // 3))


def _rows(name: str, counts: dict[Any, int], total: int, indent: int) -> Iterator[tuple[str, str, str]]:
    scale = _scale(total)

    def row(label: str, count: int) -> tuple[str, str, str]:
        told = f"{count / 1000**scale:.3f}{_SUFFIXES[scale]}" if scale else str(count)
        return label, told, f"{count / total:.2%}" if total else "0%"

    yield row(" " * indent + name, sum(counts.values()))
    for func, count in counts.items():
        yield row(f"{' ' * indent} - {func}", count)


def table(counts: dict[str, dict[Any, int]], total: int, depth: int | None) -> str:
    """Modules sorted by name, each with its operations; what ran outside of them is told by a line of the whole.

    Example::

        >>> print(table({"Global": {"aten.mm": 24}, "Linear": {"aten.mm": 8}}, 24, 2))
        Module         FLOP    % Total
        -----------  ------  ---------
        Global           24    100.00%
         - aten.mm       24    100.00%
         Linear           8     33.33%
          - aten.mm       8     33.33%
    """
    names = [n for n in sorted(counts) if n != "Global" and (depth is None or n.count(".") < depth)]
    whole = any(sum(counts[n].values()) >= total for n in names)  # then the line of the whole would stand twice
    rows = [] if whole or not total else list(_rows("Global", counts["Global"], total, 0))
    for name in names:
        rows += _rows(name, counts[name], total, name.count(".") + (not whole))
    rows = rows or [("Global", "0", "0%")]
    widths = [max(len(head) + 2 * (i > 0), *(len(row[i]) for row in rows)) for i, head in enumerate(_HEADER)]
    widths[0] = max(widths[0], len(_HEADER[0]) + 2)
    lines = [_HEADER, tuple("-" * w for w in widths), *rows]
    return "\n".join(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in lines)
