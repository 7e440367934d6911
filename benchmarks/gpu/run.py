"""Everything that wants a real GPU, in one call: python benchmarks/gpu/run.py [--quick]

Runs the cases of tests/device_kernels on the GPU, then measures: what an eager call costs on the CPU (L), the bandwidth of elementwise
operations, copies, softmax and norms against that of the driver's own copy (B), and products of matrices (M). Where PyTorch is
installed, its figures stand beside ours. Goals: notes/triton.md, 6.4. Prints Markdown and writes it to $OUT/gpu.md if OUT is set.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import adjoint as ad

try:
    import torch
except ImportError:
    torch = None

ROOT = Path(__file__).resolve().parents[2]
QUICK = "--quick" in sys.argv
LINES = []


def say(text=""):
    print(text, flush=True)
    LINES.append(text)


def tests():
    """The cases of tests/device_kernels on this GPU."""
    command = [sys.executable, "-m", "pytest", "-q", "-x" if QUICK else "--maxfail=50", "-n", "8", "tests/device_kernels"]
    run = subprocess.run(command, cwd=ROOT, env=os.environ | {"ADJOINT_GPU": "1"}, capture_output=True, text=True, check=False)
    say(f"tests/device_kernels on the GPU: `{run.stdout.strip().splitlines()[-1]}`")
    for line in run.stdout.splitlines():
        if line.startswith("FAILED"):
            say(f"- {line}")


def device_seconds(lib, f, repeat):
    """The GPU's time for one call, from events around `repeat` of them; the least of five."""
    f()
    best = float("inf")
    for _ in range(5):
        start, end = lib.cuda.Event(enable_timing=True), lib.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repeat):
            f()
        end.record()
        lib.cuda.synchronize()
        best = min(best, start.elapsed_time(end) / repeat / 1e3)
    return best


def cpu_seconds(lib, f, repeat=2000):
    """The CPU's time for one call, the GPU keeping up."""
    f()
    lib.cuda.synchronize()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repeat):
            f()
        times.append((time.perf_counter() - start) / repeat)
        lib.cuda.synchronize()
    return min(times)


def libraries():
    return [("adjoint", ad)] + ([("torch", torch)] if torch else [])


def table(title, unit, rows, measure):
    say(
        f"\n## {title}\n\n| call | {' | '.join(f'{name}, {unit}' for name, _ in libraries())} |\n|---|{'---|' * len(libraries())}"
    )
    for label, make in rows:
        cells = []
        for _, lib in libraries():
            try:
                cells.append(measure(lib, make))
            except Exception as error:  # a row that fails must not hide the others
                cells.append(type(error).__name__ + ": " + str(error)[:60])
        say(f"| {label} | {' | '.join(cells)} |")


def launches():
    def small(lib):
        return lib.ones(64, 64, device="cuda")

    rows = [
        ("x + y", lambda lib: (lambda x, y: lambda: x + y)(small(lib), small(lib))),
        ("x * 2.0", lambda lib: (lambda x: lambda: x * 2.0)(small(lib))),
        ("x.sin()", lambda lib: (lambda x: lambda: x.sin())(small(lib))),
        ("x.sum()", lambda lib: (lambda x: lambda: x.sum())(small(lib))),
        ("softmax", lambda lib: (lambda x: lambda: lib.softmax(x, -1))(small(lib))),
        ("x @ y", lambda lib: (lambda x, y: lambda: x @ y)(small(lib), small(lib))),
    ]
    table("L: CPU time of an eager call", "us", rows, lambda lib, make: f"{cpu_seconds(lib, make(lib)) * 1e6:.2f}")


def bandwidth():
    n = (1 << 24) if QUICK else (1 << 26)

    def big(lib):
        return lib.ones(n, device="cuda")

    def matrix(lib):
        return lib.ones(n // 4096, 4096, device="cuda")

    functional = {"adjoint": ad.nn.functional, "torch": torch and torch.nn.functional}
    name = lambda lib: "adjoint" if lib is ad else "torch"  # noqa: E731
    moved = {"copy": 2, "x * 2": 2, "x + y": 3, "gelu": 2, "transposed copy": 2, "sum": 1, "softmax": 2, "layer_norm": 2}
    rows = [
        ("copy", lambda lib: (lambda x: lambda: x.clone())(big(lib))),
        ("x * 2", lambda lib: (lambda x: lambda: x * 2.0)(big(lib))),
        ("x + y", lambda lib: (lambda x, y: lambda: x + y)(big(lib), big(lib))),
        ("gelu", lambda lib: (lambda x: lambda: functional[name(lib)].gelu(x))(big(lib))),
        ("transposed copy", lambda lib: (lambda x: lambda: x.t().contiguous())(matrix(lib))),
        ("sum", lambda lib: (lambda x: lambda: x.sum())(big(lib))),
        ("softmax", lambda lib: (lambda x: lambda: lib.softmax(x, -1))(matrix(lib))),
        ("layer_norm", lambda lib: (lambda x: lambda: functional[name(lib)].layer_norm(x, (4096,)))(matrix(lib))),
    ]
    for label, make in rows:
        table(f"B: {label}, {n >> 20} M float32", "GB/s", [(label, make)],
              lambda lib, make, label=label: f"{moved[label] * 4 * n / device_seconds(lib, make(lib), 20) / 1e9:.0f}")  # fmt: skip


def products():
    sizes = [1024, 4096] if QUICK else [1024, 2048, 4096, 8192]
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        rows = []
        for n in sizes if dtype != "float64" else sizes[:2]:
            make = lambda lib, n=n: [lib.ones(n, n, dtype=getattr(lib, dtype), device="cuda") for _ in range(2)]  # noqa: B023, E731
            rows += [(f"NN {n}", (n, lambda lib, make=make: (lambda x, y: lambda: x @ y)(*make(lib)))),
                     (f"NT {n}", (n, lambda lib, make=make: (lambda x, y: lambda: x @ y.t())(*make(lib))))]  # fmt: skip
        table(
            f"M: {dtype}",
            "TFLOP/s",
            rows,
            lambda lib, row: f"{2 * row[0] ** 3 / device_seconds(lib, row[1](lib), 5) / 1e12:.1f}",
        )


def main():
    p = ad.cuda.get_device_properties()
    say(f"# {p.name}, sm_{p.major}{p.minor}, {p.total_memory >> 30} GiB, {time.strftime('%d %b %Y')}\n")
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = False
    start = time.perf_counter()
    (ad.ones(4, device="cuda") + 1).cpu()
    say(f"first result: {time.perf_counter() - start:.2f} s (with an empty cache, a compilation; else from disk)\n")
    for part in (tests, launches, bandwidth, products):
        part()
    if os.environ.get("OUT"):
        (Path(os.environ["OUT"]) / "gpu.md").write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
