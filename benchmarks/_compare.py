"""Runs the same code with adjoint and with PyTorch in turns, and prints times, ratios and budgets as a Markdown table."""

import importlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # they choose kernels and panels for another machine
    os.environ.pop(name, None)

ad = importlib.import_module("adjoint")
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None

LIBRARIES = [ad] if torch is None else [ad, torch]
ALL_THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Row:
    """One program: `make(library)` prepares it and returns what is timed; `per` things happen in one run of it."""

    title: str
    make: Callable[[Any], Callable[[], object]]
    budget: float | None = None  # how many times faster than PyTorch it has to be
    per: int = 1


@dataclass(frozen=True)
class Table:
    """Rows, the budget of their geometric mean, and the numbers of threads to run them with.

    `alone`: on one thread the thread's own time counts, which other programs on the machine do not lengthen.
    """

    title: str
    rows: Iterable[Row]
    together: float | None = None
    threads: tuple[int, ...] = (1,)
    alone: bool = False


def hundred(f: Callable[[], object]) -> Callable[[], None]:
    """f a hundred times: for what is as short as a call."""

    def run() -> None:
        for _ in range(100):
            f()

    return run


def best(functions: list[Callable[[], object]], seconds: float, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The smallest time of one call of each function, in seconds; they take turns, so that a disturbance meets all."""
    loops = []
    for f in functions:
        f()
        start = clock()
        f()
        loops.append(max(1, int(0.002 / max(clock() - start, 1e-7))))
    found = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds * len(functions)
    while time.perf_counter() < end:
        for i, f in enumerate(functions):
            start = clock()
            for _ in range(loops[i]):
                f()
            found[i] = min(found[i], (clock() - start) / loops[i])
    return found


def verdict(ratio: float, budget: float | None) -> str:
    """The budget, and whether it is kept."""
    return "" if budget is None else f"{budget:g} {'kept' if ratio >= budget else '**over**'}"


def compare(row: Row, seconds: float, clock: Callable[[], float]) -> float | None:
    """Prints one row; returns how many times faster than PyTorch it is."""
    try:
        times = [1e6 * t / row.per for t in best([row.make(library) for library in LIBRARIES], seconds, clock)]
    except (AttributeError, NotImplementedError) as fault:
        print(f"| {row.title} | **missing**: {fault} | | | |", flush=True)
        return None
    if torch is None:
        print(f"| {row.title} | {times[0]:.3f} | | | |", flush=True)
        return None
    ratio = times[1] / times[0]
    print(f"| {row.title} | {times[0]:.3f} | {times[1]:.3f} | {ratio:.2f} | {verdict(ratio, row.budget)} |", flush=True)
    return ratio


def set_threads(n: int) -> None:
    """One setting for both libraries."""
    for library in LIBRARIES:
        library.set_num_threads(n)


def option(arguments: list[str], name: str, otherwise: float) -> float:
    """Takes `name VALUE` out of the arguments."""
    if name not in arguments:
        return otherwise
    at = arguments.index(name)
    value = float(arguments[at + 1])
    del arguments[at : at + 2]
    return value


def print_table(
    title: str, rows: list[Row], together: float | None, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> None:
    print(f"\n### {title}\n\n| what | adjoint us | PyTorch us | times faster | budget |\n|---|---|---|---|---|", flush=True)
    ratios = [ratio for row in rows if (ratio := compare(row, seconds, clock)) is not None]
    if len(ratios) > 1:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"| **geometric mean of {len(ratios)}** | | | **{mean:.2f}** | {verdict(mean, together)} |", flush=True)


def main(*tables: Table) -> None:
    """Prints the tables. Arguments choose rows by parts of their titles.

    `--seconds S` is the time for each row and library, `--threads N` leaves out the tables for other numbers of threads.
    """
    arguments = sys.argv[1:]
    seconds, only = option(arguments, "--seconds", 0.4), int(option(arguments, "--threads", 0))
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > 1:
        print(
            f"\nThe machine is busy: load {os.getloadavg()[0]:.1f} on {ALL_THREADS} cores. Several threads compare badly then."
        )
    for table in tables:
        rows = [row for row in table.rows if not arguments or any(part in row.title for part in arguments)]
        for threads in dict.fromkeys(table.threads) if rows else ():
            if only in (0, threads):
                set_threads(threads)
                title = f"{table.title}, {threads} thread{'s' if threads > 1 else ''}"
                clock = time.thread_time if table.alone and threads == 1 else time.perf_counter
                print_table(title, rows, table.together, seconds, clock)
