"""`utils.benchmark.Compare`: measurements side by side, a table for each label."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .benchmark import _UNITS, Measurement

__all__ = ["Compare"]

_NAMES = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
_GREEN, _RED, _PLAIN = "\033[92m", "\033[31m", "\033[0m"
_NEAR, _FAR = 1.25, 5.0  # of the best: green up to the one, red beyond the other


def _row(m: Measurement) -> tuple[int, str]:
    return m.num_threads, m.sub_label or m.stmt


def _column(m: Measurement) -> str:
    return m.description or ""


def _figures(m: Measurement) -> int:
    """The leading digits of the median that its standard error, by the quartiles of a normal distribution, leaves certain."""
    error = m.iqr / 1.35 / math.sqrt(len(m.raw_times))
    return 3 if error <= 0 else min(max(math.floor(math.log10(m.median / error)), 1), 3)


class Compare:
    """A table of medians: a row for each `sub_label` and number of threads, a column for each `description`, a table for each `label`.

    Arguments:
        results: measurements; those of one task are merged.

    Example::

        >>> from adjoint.utils import benchmark
        >>> task = benchmark.TaskSpec("x + y", "pass", label="Sum", sub_label="3", description="add")
        >>> print(str(benchmark.Compare([benchmark.Measurement(1, [2e-6], task)])).rstrip())
        [---- Sum ----]
                 |  add
        1 threads: ----
              3  |  2.0
        <BLANKLINE>
        Times are in microseconds (us).
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim, self._color, self._rowwise, self._warn = False, False, False, False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More measurements; a TypeError for what is none."""
        for m in results:
            if not isinstance(m, Measurement):
                raise TypeError(f"Compare: results are Measurements, got {type(m).__name__}")
            self._results.append(m)

    def trim_significant_figures(self) -> None:
        """Shows of each median the digits that its spread leaves certain."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colours the best of each column, or row, and what is near it green, and what takes over five times as long red."""
        self._color, self._rowwise = True, rowwise

    def highlight_warnings(self) -> None:
        """Writes beside a median (!), and how far its quartiles are apart in percent, where that is over a tenth of it."""
        self._warn = True

    def print(self) -> None:
        """Writes the tables to standard output."""
        print(str(self))

    def __str__(self) -> str:
        tables: dict[str, list[Measurement]] = {}
        for m in Measurement.merge(self._results):
            tables.setdefault(m.label or "", []).append(m)
        return "\n".join(self._table(label, found) for label, found in tables.items())

    def _table(self, label: str, found: list[Measurement]) -> str:
        size, unit = next((u for u in reversed(_UNITS) if min(m.median for m in found) >= u[0]), _UNITS[0])
        cells = {(_row(m), _column(m)): self._cell(m, size) for m in found}
        rows, columns = list(dict.fromkeys(map(_row, found))), list(dict.fromkeys(map(_column, found)))
        rows.sort(key=lambda row: row[0])
        first = 6 + max(len(name) for _, name in rows)
        widths = {c: max(len(c), *(len(cells.get((r, c), "")) for r in rows)) for c in columns}
        total = first + sum(5 + w for w in widths.values())
        head = " " * first + "".join("  |  " + c.center(widths[c]) for c in columns)
        lines = ["[" + f" {label} ".center(total - 2, "-") + "]", head.rstrip()]
        threads = None
        colors = self._colors(found)
        for row in rows:
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(total, "-"))
            texts = ((cells.get((row, c), "").rjust(widths[c]), colors.get((row, c), "")) for c in columns)
            shown = "".join("  |  " + (color + text + _PLAIN if color else text) for text, color in texts)
            lines.append(" " * 6 + row[1].ljust(first - 6) + shown)
        return "\n".join([*lines, "", f"Times are in {_NAMES[unit]} ({unit}).", ""])

    def _cell(self, m: Measurement, size: float) -> str:
        value, digits = m.median / size, 1
        if self._trim:
            digits = _figures(m) - 1 - math.floor(math.log10(value))
            value, digits = round(value, digits), max(digits, 0)
        warning = f" (! {100 * m.iqr / m.median:.0f}%)" if self._warn and m.has_warnings else ""
        return f"{value:.{digits}f}{warning}"

    def _colors(self, found: list[Measurement]) -> dict[tuple[tuple[int, str], str], str]:
        if not self._color:
            return {}
        best: dict[object, float] = {}
        for m in found:
            group = _row(m) if self._rowwise else _column(m)
            best[group] = min(best.get(group, math.inf), m.median)
        colors = {}
        for m in found:
            times = m.median / best[_row(m) if self._rowwise else _column(m)]
            colors[_row(m), _column(m)] = _GREEN if times <= _NEAR else _RED if times > _FAR else ""
        return colors
