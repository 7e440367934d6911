"""Everything that wants a real GPU, in one call: python benchmarks/gpu/run.py [PART...] [--quick] [--minutes 9.5]

Runs the cases of tests/device_kernels on the GPU, then measures: how long the first result takes (C), what an eager call costs on the
CPU (L), a captured step (G), what profiling adds to that (P), the bandwidth of elementwise operations, random numbers, copies, softmax
and norms beside that of the driver's own copy (B), and products of matrices (M). Where PyTorch is installed, its figures stand beside
ours; the goals are those of the first column of each table. Prints Markdown and writes it, line by line, to $OUT/gpu.md if OUT is set, or
else to benchmarks/gpu/results/. The call ends within its minutes: the tests get half of them, and rows that it did not reach are named at
the end with the call that goes on. Kernels stay in the cache, so that a second call reaches further. `--rehearse` runs all but the tests on tiny sizes, as on the stand-in driver of tests/cuda: it shows that the
script runs, and measures nothing.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import adjoint as ad

try:
    import torch
except ImportError:
    torch = None

ROOT = Path(__file__).resolve().parents[2]
BEGAN = time.monotonic()
REHEARSE = "--rehearse" in sys.argv
QUICK = REHEARSE or "--quick" in sys.argv
LINES = []
FIRST = "import adjoint as ad; x = ad.ones(64, 64, device='cuda'); print((x.softmax(-1) @ x + 1).sum().item())"


def say(text=""):
    print(text, flush=True)
    LINES.append(text)
    (FOLDER / "gpu.md").write_text("\n".join(LINES) + "\n")  # what was measured stays, however this ends


def left():
    """Seconds of this call."""
    return 60 * GIVEN.minutes - (time.monotonic() - BEGAN)


def tests():
    """The cases of tests/device_kernels on this GPU."""
    command = [sys.executable, "-m", "pytest", "-q", "-x" if QUICK else "--maxfail=50", "-n", "8", "tests/device_kernels"]
    environment = os.environ | {"ADJOINT_GPU": "1"}
    time_left = left() if GIVEN.parts == ["tests"] else left() / 2
    try:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=max(1, time_left - 10)
        )
    except subprocess.TimeoutExpired as stopped:
        reached = (stopped.stdout or b"").decode(errors="replace").strip().splitlines()[-1:]
        say(f"tests/device_kernels on the GPU: stopped after {stopped.timeout:.0f} s: `{''.join(reached)}`")
        LEFT_OUT.append("tests")
        return
    last = [*run.stderr.strip().splitlines()[-1:], *run.stdout.strip().splitlines()[-1:]]
    say(f"tests/device_kernels on the GPU: `{last[-1] if last else f'exit status {run.returncode}'}`")
    for line in run.stdout.splitlines():
        if re.match("FAILED|ERROR", line):
            say(f"- {line}")


def first_results():
    """A process of its own, with an empty cache and with what that left there."""
    say("\n## C: first result of a process, importing and starting the driver\n\n| cache | s |\n|---|---|")
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty (Triton compiles; goal 0.5 s a kernel)", "filled (goal 0.3 s)"):
            start = time.perf_counter()
            environment = os.environ | {"ADJOINT_KERNEL_CACHE": cache}
            run = subprocess.run([sys.executable, "-c", FIRST], env=environment, capture_output=True, text=True, check=False)
            took = f"{time.perf_counter() - start:.2f}" if run.returncode == 0 else run.stderr.strip().splitlines()[-1]
            say(f"| {state} | {took} |")


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


def cpu_seconds(lib, f):
    """The CPU's time for one call, the GPU keeping up: the least of seven."""
    f()
    lib.cuda.synchronize()
    repeat, times = (2 if REHEARSE else 1000), []
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
    """A row for each (label, goal, how to make the call from a library)."""
    if left() < 5:
        raise TimeoutError(title)
    heads = " | ".join(f"{name}, {unit}" for name, _ in libraries())
    say(f"\n## {title}\n\n| call | goal | {heads} |\n|---|---|{'---|' * len(libraries())}")
    for label, goal, make in rows:
        cells = []
        for _, lib in libraries():
            if left() < 5:
                raise TimeoutError(f"{title}: {label}")
            try:
                cells.append(measure(lib, label, make(lib)))
            except Exception as error:  # a row that fails must not hide the others
                cells.append(type(error).__name__ + ": " + str(error).splitlines()[0][:80])
        say(f"| {label} | {goal} | {' | '.join(cells)} |")


NODES = 100


def chain(lib):
    """A backward of many nodes; the cost of one, with its part of the graph's making."""
    x = lib.ones(64, 64, device="cuda", requires_grad=True)

    def call():
        y = x
        for _ in range(NODES):
            y = y * 1.5
        y.backward(x.detach())
        x.grad = None

    return call


def launches():
    def on(*names):
        return lambda f: lambda lib: (lambda a: lambda: f(lib, *a))([lib.ones(64, 64, device="cuda") for _ in names])

    rows = [
        ("x + y", "3", on("x", "y")(lambda lib, x, y: x + y)),
        ("x * 2.0", "3", on("x")(lambda lib, x: x * 2.0)),
        ("x.sin()", "3", on("x")(lambda lib, x: x.sin())),
        ("x.sum()", "", on("x")(lambda lib, x: x.sum())),
        ("softmax", "", on("x")(lambda lib, x: lib.softmax(x, -1))),
        ("x @ y", "", on("x", "y")(lambda lib, x, y: x @ y)),
        ("x * 1.5, forward and backward, a node", "5.5", chain),
    ]
    table("L: CPU time of an eager call (goals: and half of PyTorch's)", "us", rows,
          lambda lib, label, f: f"{cpu_seconds(lib, f) * 1e6 / (NODES if 'a node' in label else 1):.2f}")  # fmt: skip


def replayed(lib):
    """The same chain captured in a CUDA graph."""
    call = chain(lib)
    side = lib.cuda.Stream()
    side.wait_stream(lib.cuda.current_stream())
    with lib.cuda.stream(side):
        call()
    lib.cuda.current_stream().wait_stream(side)
    graph = lib.cuda.CUDAGraph()
    with lib.cuda.graph(graph):
        call()
    return graph.replay


def graphs():
    rows = [("x * 1.5, forward and backward, 100 nodes: eager", "", chain), ("the same, replayed", "10", replayed)]
    table("G: CPU time of a captured step", "us", rows, lambda lib, label, f: f"{cpu_seconds(lib, f) * 1e6:.1f}")
    table(
        "G: the GPU's time for it",
        "us",
        rows,
        lambda lib, label, f: f"{device_seconds(lib, f, 2 if REHEARSE else 20) * 1e6:.0f}",
    )


def profiles():
    """The CPU's time for a call that is profiled; and a large copy's time on the device, which must be the one that events give."""
    repeat = 2 if REHEARSE else 2000

    def call(lib, **options):
        x = lib.ones(64, 64, device="cuda")
        x + x
        best = float("inf")
        for _ in range(3):
            with lib.autograd.profiler.profile(use_kineto=True, **options):
                start = time.perf_counter()
                for _ in range(repeat):
                    x + x
                best = min(best, (time.perf_counter() - start) / repeat)
        return best

    def large(lib):
        return lib.ones((1 << 16) if REHEARSE else (1 << 26), device="cuda")

    def copy_in_profile(lib):
        x = large(lib)
        x.clone()
        with lib.autograd.profiler.profile(use_device="cuda", use_kineto=True) as prof:
            x.clone()
        return (
            sum(e.self_device_time_total for e in prof.function_events if e.device_type == lib.autograd.DeviceType.CUDA) / 1e6
        )

    rows = [
        ("x + y, profiled", "", lambda lib: lambda: call(lib)),
        ("x + y, profiled with the device's times", "", lambda lib: lambda: call(lib, use_device="cuda")),
        ("a copy on the device, from the profile", "", lambda lib: lambda: copy_in_profile(lib)),
        ("a copy on the device, from events", "", lambda lib: lambda: device_seconds(lib, large(lib).clone, 1)),
    ]
    table("P: profiling", "us", rows, lambda lib, label, seconds: f"{seconds() * 1e6:.2f}")


def backward(lib, forward, *inputs):
    """The derivatives of forward(inputs) alone."""
    leaves = [x.requires_grad_() for x in inputs]
    y = forward(*leaves)
    g = lib.ones_like(y.detach())
    return lambda: lib.autograd.grad(y, leaves, g, retain_graph=True)


def bandwidth():
    n = (1 << 16) if REHEARSE else (1 << 24) if QUICK else (1 << 26)
    wide = 1 << 12 if not REHEARSE else 256

    def f(lib):
        return lib.nn.functional

    def flat(lib):
        return lib.ones(n, device="cuda")

    def matrix(lib):
        return lib.ones(n // wide, wide, device="cuda")

    def row(lib):
        return lib.ones(wide, device="cuda")

    def gathered(lib):
        x = matrix(lib)
        index = lib.zeros(x.shape[0] // 2, wide, dtype=lib.int64, device="cuda")
        return lambda: x.gather(0, index)

    layer_norm = lambda lib: lambda x, w: f(lib).layer_norm(x, (wide,), w)  # noqa: E731
    rms_norm = lambda lib: lambda x, w: f(lib).rms_norm(x, (wide,), w)  # noqa: E731
    rows = [  # how many times the tensor is read and written; the label; the goal in parts of the copy
        (2, "copy", "", lambda lib: (lambda x: x.clone)(flat(lib))),
        (2, "x * 2", "90 %", lambda lib: (lambda x: lambda: x * 2.0)(flat(lib))),
        (3, "x + y", "90 %", lambda lib: (lambda x, y: lambda: x + y)(flat(lib), flat(lib))),
        (2, "gelu", "90 %", lambda lib: (lambda x: lambda: f(lib).gelu(x))(flat(lib))),
        (2, "transposed copy", "60 %", lambda lib: (lambda x: x.t().contiguous)(matrix(lib))),
        (1, "sum", "", lambda lib: (lambda x: x.sum)(flat(lib))),
        (2, "softmax", "85 %", lambda lib: (lambda x: lambda: lib.softmax(x, -1))(matrix(lib))),
        (3, "softmax, backward", "70 %", lambda lib: backward(lib, lambda x: lib.softmax(x, -1), matrix(lib))),
        (2, "layer_norm", "85 %", lambda lib: (lambda x, w: lambda: layer_norm(lib)(x, w))(matrix(lib), row(lib))),
        (3, "layer_norm, backward", "70 %", lambda lib: backward(lib, layer_norm(lib), matrix(lib), row(lib))),
        (2, "rms_norm", "85 %", lambda lib: (lambda x, w: lambda: rms_norm(lib)(x, w))(matrix(lib), row(lib))),
        (3, "rms_norm, backward", "70 %", lambda lib: backward(lib, rms_norm(lib), matrix(lib), row(lib))),
        (1, "rand", "", lambda lib: (lambda x: x.uniform_)(flat(lib))),
        (1, "randn", "", lambda lib: lambda: lib.randn(n, device="cuda")),
        (2, "dropout", "", lambda lib: (lambda x: lambda: f(lib).dropout(x, 0.5))(flat(lib))),
        (2, "gather, half of the rows", "", gathered),
        (2, "batch_norm", "", lambda lib: (lambda x: lambda: f(lib).batch_norm(x, None, None, training=True))(matrix(lib).view(-1, 16, wide // 16))),
    ]  # fmt: skip
    moved = {label: times for times, label, _, _ in rows}
    table(f"B: {n >> 20} M float32, rows of {wide} (goals: of the copy)", "GB/s", [row[1:] for row in rows],
          lambda lib, label, call: f"{moved[label] * 4 * n / device_seconds(lib, call, 2 if REHEARSE else 20) / 1e9:.0f}")  # fmt: skip


def products():
    sizes = [64] if REHEARSE else [1024, 4096] if QUICK else [1024, 2048, 4096, 8192]
    goals = {"float16": "80 % of PyTorch", "bfloat16": "80 % of PyTorch", "tf32": "80 % of PyTorch", "float32": "85 % of PyTorch",
             "float64": "60 % of PyTorch"}  # fmt: skip
    for kind, goal in goals.items():
        for _, lib in libraries():
            lib.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        rows = []
        for n in sizes if kind != "float64" else sizes[:2]:

            def two(lib, n=n, kind=kind):
                dtype = getattr(lib, "float32" if kind == "tf32" else kind)
                return [lib.ones(n, n, dtype=dtype, device="cuda") for _ in range(2)]

            rows += [
                (f"NN {n}", goal, lambda lib, two=two: (lambda x, y: lambda: x @ y)(*two(lib))),
                (f"NT {n}", goal, lambda lib, two=two: (lambda x, y: lambda: x @ y.t())(*two(lib))),
                (f"TN {n}", goal, lambda lib, two=two: (lambda x, y: lambda: x.t() @ y)(*two(lib))),
            ]
        table(f"M: {kind}", "TFLOP/s", rows,
              lambda lib, label, f: f"{2 * int(label.split()[1]) ** 3 / device_seconds(lib, f, 5) / 1e12:.1f}")  # fmt: skip
    for _, lib in libraries():
        lib.backends.cuda.matmul.allow_tf32 = False


PARTS = {part.__name__: part for part in (tests, first_results, launches, bandwidth, products, graphs, profiles)}
LEFT_OUT = []


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help=f"{', '.join(PARTS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes")
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes, no tests: shows that the script runs")
    parser.add_argument("--minutes", type=float, default=9.5, help="ends within them")
    return parser.parse_args()


def main():
    p = ad.cuda.get_device_properties()
    say(f"# {p.name}, sm_{p.major}{p.minor}, {p.total_memory >> 30} GiB, {time.strftime('%d %b %Y')}\n")
    for name in GIVEN.parts or [name for name in PARTS if name != "tests" or not REHEARSE]:
        try:
            if left() < 15:
                raise TimeoutError(name)
            PARTS[name]()
        except TimeoutError as reached:
            say(f"\n{name}: no time was left, at {reached}")
            LEFT_OUT.append(name)
        except Exception as error:  # what was measured before stays
            say(f"\n{name}: {type(error).__name__}: {error}")
    if LEFT_OUT:
        say(f"\nTo go on: python benchmarks/gpu/run.py {' '.join(LEFT_OUT)}")


if __name__ == "__main__":
    GIVEN = arguments()
    FOLDER = Path(os.environ.get("OUT") or (tempfile.mkdtemp() if REHEARSE else Path(__file__).parent / "results"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    main()
