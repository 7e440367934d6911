"""Runs the same code with adjoint and with PyTorch in alternation and prints times and ratios."""

import importlib
import os
import time
from collections.abc import Callable

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # they make OpenBLAS choose slower kernels
    os.environ.pop(name, None)

ad = importlib.import_module("adjoint")
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None


def set_threads(n: int) -> None:
    """One setting for both libraries."""
    ad.set_num_threads(n)
    if torch is not None:
        torch.set_num_threads(n)


def best(functions: list[Callable[[], object]], seconds: float = 0.6) -> list[float]:
    """The smallest time of one call of each function, in seconds; short bursts in alternation."""
    loops = []
    for f in functions:
        f()
        start = time.perf_counter()
        f()
        loops.append(max(1, int(0.004 / max(time.perf_counter() - start, 1e-7))))
    found = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds * len(functions)
    while time.perf_counter() < end:
        for i, f in enumerate(functions):
            start = time.perf_counter()
            for _ in range(loops[i]):
                f()
            found[i] = min(found[i], (time.perf_counter() - start) / loops[i])
    return found


def compare(title: str, make: Callable[..., Callable[[], object]], budget: float | None = None, per: int = 1) -> float | None:
    """Prints one row: adjoint's time, PyTorch's, and their ratio beside its budget."""
    libraries = [ad] if torch is None else [ad, torch]
    times = [1e6 * t / per for t in best([make(lib) for lib in libraries])]
    row = f"| {title} | {times[0]:.3f} |"
    ratio = None
    if torch is not None:
        ratio = times[0] / times[1]
        mark = "" if budget is None else f"{budget:.3f} {'ok' if ratio <= budget else 'OVER'}"
        row += f" {times[1]:.3f} | {ratio:.3f} | {mark} |"
    print(row, flush=True)
    return ratio


def header(title: str) -> None:
    """Begins a table."""
    print(f"\n{title}\n\n| what | adjoint us | PyTorch us | ratio | budget |\n|---|---|---|---|---|")
