"""Every operation, in every cell, beside PyTorch: distributions, and the worst rows first.

Cells: {small, with gradient, forward mode, vmap, large, large with gradient} x layouts x threads x types. Calls come from the
table of cases (`--calls cases`) or from PyTorch's own table of operators with its own samples (`--calls samples`). `--memory` measures
the peak of memory instead of time, of large calls with their gradient, on one thread.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from _calls import Call, cases, samples
from _cells import DTYPES, LARGE, LAYOUTS, MAKE, MEMORY, MODES, Thunk, large_shapes, tensors
from _compare import ALL_THREADS, LIBRARIES, ad, set_threads, torch
from _peaks import peak

BUDGET = Path(__file__).with_name("every_operation_budget.tsv")
NOISE = 0.9  # a ratio from here on counts as 1
LEAST_PEAK = 1e5  # bytes; what is less is no large call's


def alternate(thunks: Sequence[Thunk], seconds: float, threads: int) -> list[float]:
    """The least time of a call of each; on one thread the thread's own, which other programs do not lengthen.

    On several each begins when the threads of the other one have stopped waiting: OpenMP's turn round for some 10 ms behind a call, on the
    processors that the next library wants.
    """
    clock = time.thread_time if threads == 1 else time.perf_counter
    loops, found = [], []
    for f in thunks:
        start = clock()
        f()
        took = clock() - start
        if took > 2:
            raise NotImplementedError("longer than 2 s")
        loops.append(max(1, min(200, int(0.0004 / max(took, 1e-7)))))
        found.append(math.inf)
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or (time.perf_counter() < end and rounds < 60):
        rounds += 1
        for i, f in enumerate(thunks):
            if threads > 1:
                time.sleep(0.03)
                f()
            start = clock()
            for _ in range(loops[i]):
                f()
            found[i] = min(found[i], (clock() - start) / loops[i])
    return found


def prepare(call: Call, mode: str, layout: str, dtype: str) -> list[Thunk]:
    """The call in each library, or NotImplementedError where PyTorch cannot make it.

    The size grows as long as PyTorch is expected to take less than half a second: its slowest ways take hours at the largest.
    """
    thunks: list[Thunk] = []
    before = math.inf
    for goal in (LARGE // 256, LARGE // 16, LARGE) if mode.startswith("large") else (0,):
        grown, took = prepared_at(goal, call, mode, layout, dtype)
        thunks = grown or thunks
        if took * max(16, took / before) > 0.5:
            break
        before = took or before
    if not thunks:
        raise NotImplementedError
    return thunks


def prepared_at(goal: int, call: Call, mode: str, layout: str, dtype: str) -> tuple[list[Thunk], float]:
    """The call in each library with some `goal` elements, or as it is if that is 0, and PyTorch's seconds."""
    for shapes, make in product(large_shapes(call, layout, goal) if goal else (None,), MAKE[mode]):
        thunks: list[Thunk] = []
        took = 0.0
        try:
            arrays = call.draw(shapes)
            if goal and sum(a.size for a in arrays) > 8 * goal:
                continue
            for lib in reversed(LIBRARIES):
                thunk = make(lib, call, tensors(lib, arrays, dtype, layout == "transposed"))
                thunk()  # the first time, more is loaded and planned
                start = time.thread_time()
                thunk()
                took = took or time.thread_time() - start
                thunks.append(thunk)
        except Exception as fault:
            if thunks:  # PyTorch has it, adjoint has not
                raise LookupError(f"{type(fault).__name__}: {fault}".splitlines()[0]) from fault
            continue
        return thunks[::-1], took
    return [], 0.0


def cells(chosen: argparse.Namespace) -> Iterator[tuple[str, str, int, str]]:
    for dtype in chosen.types:
        for threads in dict.fromkeys(chosen.threads):
            for mode in chosen.modes:
                for layout in chosen.layouts:
                    if layout == "contiguous" or mode.startswith("large"):  # strides are nothing to a few elements
                        yield mode, layout, threads, dtype


def picked(call: Call, cell: tuple[Any, ...], share: float) -> bool:
    """A sample that is the same each time."""
    return zlib.crc32(repr((call.name, cell)).encode()) % 10_000 < share * 10_000


def measure(calls: Sequence[Call], chosen: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    rows, missing = [], []
    for cell in cells(chosen):
        mode, layout, threads, dtype = cell
        set_threads(threads)
        for call in calls:
            if not picked(call, cell, chosen.share):
                continue
            try:
                thunks = prepare(call, mode, layout, dtype)
                ours, theirs = map(peak, LIBRARIES, thunks) if mode == MEMORY else alternate(thunks, chosen.seconds, threads)
                if mode == MEMORY and max(ours, theirs) < LEAST_PEAK:
                    continue
            except NotImplementedError:
                continue
            except LookupError as fault:
                missing.append(f"{call.name}, {mode}, {dtype}: {fault}")
                continue
            rows.append(row(call.name, cell, ours, theirs))
            if chosen.json:
                with chosen.json.open("a") as file:
                    print(json.dumps(rows[-1]), file=file)
        gc.collect()
    return rows, missing


def row(name: str, cell: tuple[Any, ...], ours: float, theirs: float) -> dict[str, Any]:
    """Microseconds, or KB where memory is measured, which may be none."""
    if cell[0] == MEMORY:
        return dict(name=name, cell=cell, kB=[ours / 1e3, theirs / 1e3], ratio=max(theirs, LEAST_PEAK) / max(ours, LEAST_PEAK))
    return dict(name=name, cell=cell, us=[1e6 * ours, 1e6 * theirs], ratio=theirs / ours)


def mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def page(rows: list[dict[str, Any]], missing: list[str], worst: int) -> None:
    """Distribution by cell, then the worst rows."""
    print("\n| cell | calls | geometric mean | least | 5 % | 25 % | median | below 1.0 |\n|---|---|---|---|---|---|---|---|")
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row["cell"]), []).append(row["ratio"])
    for cell, ratios in groups.items():
        r = sorted(ratios)
        at = [r[int(len(r) * q)] for q in (0, 0.05, 0.25, 0.5)]
        below = sum(x < NOISE for x in r)
        figures = " | ".join(f"{x:.2f}" for x in (mean(r), *at))
        print(f"| {', '.join(map(str, cell))} | {len(r)} | {figures} | {below} |")
    known = reasons()
    unit, better = ("kB", "times less") if rows and rows[0]["cell"][0] == MEMORY else ("us", "times faster")
    print(f"\n| call | cell | adjoint {unit} | PyTorch {unit} | {better} | reason |\n|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda r: r["ratio"])[:worst]:
        cell = ", ".join(map(str, row["cell"]))
        ours, theirs = row[unit]
        print(
            f"| {row['name']} | {cell} | {ours:.2f} | {theirs:.2f} | {row['ratio']:.3f} | {known.get((row['name'], cell), '')} |"
        )
    if missing:
        print(f"\nNot possible here, possible there ({len(missing)}):", *sorted(missing)[:worst], sep="\n- ")


def reasons() -> dict[tuple[str, str], str]:
    """The budget file: cells below 1.0, each with why."""
    lines = BUDGET.read_text().splitlines()[1:] if BUDGET.exists() else []
    return {(name, cell): why for name, cell, _, why in (line.split("\t") for line in lines)}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names of calls; all without")
    parser.add_argument("--calls", choices=("cases", "samples"), default="cases")
    parser.add_argument(
        "--sample", action="store_const", const=0.06, default=1.0, dest="share", help="some of all cells: minutes"
    )
    parser.add_argument("--memory", action="store_true", help="peaks of memory, not times")
    parser.add_argument("--seconds", type=float, default=0.02, help="a cell")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=LAYOUTS)
    parser.add_argument("--types", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, ALL_THREADS])
    parser.add_argument("--worst", type=int, default=40)
    parser.add_argument("--json", type=Path, help="all rows, added to this file")
    chosen = parser.parse_args()
    if chosen.memory:
        chosen.modes, chosen.threads = [MEMORY], [1]
    return chosen


def main() -> None:
    warnings.simplefilter("ignore")
    chosen = options()
    if torch is None:
        raise SystemExit("every_operation: compares with PyTorch, got none installed")
    calls = [
        c
        for c in {"cases": cases, "samples": samples}[chosen.calls]()
        if not chosen.names or any(n in c.name for n in chosen.names)
    ]
    torch.manual_seed(0)
    ad.manual_seed(0)
    gc.collect()
    gc.freeze()  # what was imported need not be looked at again
    start = time.perf_counter()
    rows, missing = measure(calls, chosen)
    print(f"{len(rows)} cells of {len(calls)} calls in {time.perf_counter() - start:.0f} s")
    page(rows, missing, chosen.worst)


if __name__ == "__main__":
    main()
