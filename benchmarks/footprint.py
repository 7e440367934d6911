"""Time to import, size on disk, and memory that a training step needs."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _compare import torch

ADJOINT = ["adjoint", "adjoint_core", "adjoint_engine", "adjoint_functional", "adjoint_kernels_cpu", "adjoint_profiler"]
IMPORT = """
import time
wall, processor = time.perf_counter(), time.process_time()
import {name}
print(time.perf_counter() - wall, time.process_time() - processor)
"""
STEP = """
import sys
import {name} as lib
lib.set_num_threads(1)
def megabytes(field):
    return next(int(line.split()[1]) / 1e3 for line in open("/proc/self/status") if line.startswith(field))
weights = [(lib.rand(512, 512) - 0.5).mul(0.05).requires_grad_() for _ in range(4)]
x = lib.rand(4096, 512)
def step():
    h = x
    for w in weights:
        h = (h @ w).tanh()
    (h * h).mean().backward()
    with lib.no_grad():
        for w in weights:
            w -= 0.1 * w.grad
            w.grad = None
before = megabytes("VmRSS")
for _ in range(5):
    step()
print(megabytes("VmHWM") - before, megabytes("VmHWM"))
"""


_BYTECODE = tempfile.TemporaryDirectory()


def python(code: str) -> list[float]:
    """The numbers that a fresh interpreter prints; modules are compiled once, as when they are installed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = _BYTECODE.name
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in done.stdout.split()]


def import_milliseconds(name: str) -> list[float]:
    """The least time that passed, and the least processor time: a busy machine makes the first one longer."""
    return [1e3 * min(times) for times in zip(*(python(IMPORT.format(name=name)) for _ in range(10)))]


def megabytes(*packages: str) -> float:
    """Size of installed packages, libraries stripped as in the wheels."""
    total = 0
    for package in packages:
        spec = importlib.util.find_spec(package)
        folder = Path(spec.origin).parent if spec and spec.origin else Path()
        total += sum(stripped_size(f) for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    return total / 1e6


def stripped_size(file: Path) -> int:
    if ".so" not in file.suffixes or not shutil.which("strip") or file.stat().st_size > 5e7:
        return file.stat().st_size
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "--strip-unneeded", "-o", copy.name, file], check=True)
        return Path(copy.name).stat().st_size


def row(title: str, ours: float, theirs: float | None, budget: float | None) -> None:
    mark = "" if budget is None else f"{budget:.0f} {'kept' if ours <= budget else '**over**'}"
    print(f"| {title} | {ours:.1f} | {'' if theirs is None else f'{theirs:.1f}'} | {mark} |", flush=True)


def main() -> None:
    there = torch is not None
    print("\n### Footprint\n\n| what | adjoint | PyTorch | budget |\n|---|---|---|---|")
    ours, theirs = import_milliseconds("adjoint"), import_milliseconds("torch") if there else [None, None]
    row("import, ms", ours[0], theirs[0], 50)
    row("import, ms of processor time", ours[1], theirs[1], None)
    size = megabytes("torch", "torchgen", "functorch") if there else None
    row("on disk without NumPy and OpenBLAS, MB", megabytes(*ADJOINT), size, 5)
    growth, peak = python(STEP.format(name="adjoint"))
    their_growth, their_peak = python(STEP.format(name="torch")) if there else (None, None)
    row("five training steps, peak above what was there before, MB", growth, their_growth, their_growth)
    row("five training steps, peak of the process, MB", peak, their_peak, their_peak)
    loaded = subprocess.run(
        [sys.executable, "-c", "import adjoint, sys; print('numpy' in sys.modules)"], capture_output=True, text=True
    )
    print(f"\n`import adjoint` imports NumPy: {loaded.stdout.strip()} (budget: False)")


if __name__ == "__main__":
    main()
