"""Every operation on a GPU beside PyTorch: python benchmarks/gpu/every_operation.py [--minutes 3] [--modes MODE...] [--json FILE] [NAME...]

Each line of tests/op_cases, small and about a million elements large, with and without its gradient. A time is that of many calls
one after the other until the GPU is done with them, divided by their number: of small calls what the CPU takes, of large ones what
the GPU takes. Results are compared, too. Prints the distribution of each cell and the worst rows; ends within its minutes,
and says where to go on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _calls import Call, cases
from _cells import LARGE, MAKE, Thunk, flat, large_shapes, tensors
from _compare import LIBRARIES, ad, torch

MODES = ("small", "large", "small, gradient", "large, gradient")
LONGEST = 1.0  # seconds of a call
TOLERANCE = 2e-3  # of float32, relative to the largest value: sums of a million numbers go in another order


def thunk(lib: Any, call: Call, mode: str, arrays: Any) -> Thunk:
    return MAKE[mode][0](lib, call, [x.cuda() for x in tensors(lib, arrays, "float32", False)])


def draws(call: Call, mode: str) -> Iterator[Any]:
    """Inputs that the call may take, the best first."""
    if not mode.startswith("large"):
        yield call.draw(None)
        return
    for goal in (LARGE, LARGE // 16, LARGE // 256):
        for shapes in large_shapes(call, "contiguous", goal):
            drawn = call.draw(shapes)
            if sum(a.size for a in drawn) <= 8 * goal:
                yield drawn


def first_of(lib: Any, call: Call, mode: str) -> tuple[Any, Thunk, Any]:
    """The first inputs with which the library can be called, the call, and its result."""
    for drawn in draws(call, mode):
        try:
            f = thunk(lib, call, mode, drawn)
            start = time.monotonic()
            result = f()
            lib.cuda.synchronize()
            if time.monotonic() - start < LONGEST and sum(t.numel() for t in flat(result, lib)) <= 64 * LARGE:
                return drawn, f, result
        except Exception:  # other shapes may do
            continue
    raise NotImplementedError(f"{call.name}, {mode}")


def seconds(lib: Any, f: Thunk) -> float:
    """The least of five bursts."""
    f()
    lib.cuda.synchronize()
    start = time.perf_counter()
    f()
    lib.cuda.synchronize()
    took = time.perf_counter() - start
    if took > 0.3:
        return took
    loops, best = max(1, min(100, int(0.002 / took))), math.inf
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(loops):
            f()
        lib.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / loops)
    return best


def host(lib: Any, result: Any) -> list[Any]:
    return [t.detach().cpu().resolve_conj().numpy() for t in flat(result, lib)]


def difference(ours: Any, theirs: Any) -> str:
    """In words, where results differ; no word of shapes that differ, since gradients that are None are left out."""
    worst = 0.0
    for a, b in zip(host(ad, ours), host(torch, theirs), strict=False):
        if a.shape != b.shape:
            return f"shapes {a.shape} and {b.shape}"
        finite = (abs(b) < 1e30) & (abs(a) < 1e30)
        if finite.any():
            worst = max(worst, float(abs(a - b)[finite].max() / max(float(abs(b[finite]).max()), 1e-6)))
    return f"by {worst:.1e}" if worst > TOLERANCE else ""


def measure(call: Call, mode: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": call.name, "mode": mode}
    try:
        drawn, theirs, result = first_of(torch, call, mode)
    except NotImplementedError:  # what the peer has not is no row
        return {}
    try:
        ours = thunk(ad, call, mode, drawn)
        row["differs"] = difference(ours(), result)
        row["us"] = [1e6 * seconds(ad, ours), 1e6 * seconds(torch, theirs)]
    except Exception as fault:
        return row | {"fault": f"{type(fault).__name__}: {fault}".splitlines()[0][:200]}
    return row | {"ratio": row["us"][1] / row["us"][0]}


def page(rows: list[dict[str, Any]], worst: int) -> None:
    print("\n| mode | calls | geometric mean | least | 5 % | 25 % | median | below 0.9 |\n|---|---|---|---|---|---|---|---|")
    for mode in MODES:
        r = sorted(row["ratio"] for row in rows if row["mode"] == mode and "ratio" in row)
        if r:
            mean = math.exp(sum(map(math.log, r)) / len(r))
            figures = " | ".join(f"{x:.2f}" for x in (mean, *(r[int(len(r) * q)] for q in (0, 0.05, 0.25, 0.5))))
            print(f"| {mode} | {len(r)} | {figures} | {sum(x < 0.9 for x in r)} |")
    print("\n| call | mode | adjoint us | PyTorch us | times faster |\n|---|---|---|---|---|")
    for row in sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])[:worst]:
        print(f"| {row['name']} | {row['mode']} | {row['us'][0]:.1f} | {row['us'][1]:.1f} | {row['ratio']:.3f} |")
    for what in ("fault", "differs"):
        for row in rows:
            if row.get(what):
                print(f"- {row['name']}, {row['mode']}: {what} {row[what]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names of calls; all without")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--after", default="", metavar="NAME", help="go on behind this call in the first mode")
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--worst", type=int, default=40)
    parser.add_argument("--json", type=Path, help="all rows, added to this file")
    chosen = parser.parse_args()
    if torch is None:
        raise SystemExit("every_operation: compares with PyTorch, got none installed")
    warnings.simplefilter("ignore")
    print(f"# {LIBRARIES[0].cuda.get_device_name()}, PyTorch {torch.__version__}, {time.strftime('%d %b %Y')}")
    end, rows = time.monotonic() + 60 * chosen.minutes, []
    calls = [c for c in cases() if not chosen.names or any(n in c.name for n in chosen.names)]
    waiting = chosen.after
    for mode in chosen.modes:
        for call in calls:
            if waiting:
                waiting = "" if call.name == waiting else waiting
                continue
            if time.monotonic() > end:
                print(f"\nstopped at {call.name}, {mode}: no time was left")
                return page(rows, chosen.worst)
            if row := measure(call, mode):
                rows.append(row)
                if chosen.json:
                    with chosen.json.open("a") as file:
                        print(json.dumps(row), file=file)
    return page(rows, chosen.worst)


if __name__ == "__main__":
    main()
