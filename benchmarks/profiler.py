"""What watching costs: microseconds an event while a profile records, and instructions of an operation while none does.

    python benchmarks/profiler.py        both; the second needs valgrind
    python benchmarks/profiler.py on     the first alone

An event is a call, a node of backward, or its evaluation. Times are the least of many bursts, with and without a profile in turns.
"""

import shutil
import sys
import time
from collections.abc import Callable

import instructions

import adjoint as ad
from adjoint.autograd.profiler import emit_nvtx, profile

BUDGET = 1.0  # microseconds an event
a, b = ad.ones(4), ad.ones(4)
w = ad.ones(4, requires_grad=True)


def call() -> None:
    for _ in range(100):
        a + b


def recorded() -> None:
    for _ in range(100):
        w * b


def chain() -> None:
    y = w
    for _ in range(50):
        y = y * b
    y.sum().backward()
    w.grad = None


def burst(run: Callable[[], None], watch: object | None) -> float:
    """Seconds of one run."""
    if watch is None:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
    with watch:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start


def cost(run: Callable[[], None], make: Callable[[], object], seconds: float = 1.0) -> float:
    """Microseconds an event: what it takes beyond the same without a watch."""
    counter = profile()
    with counter:
        run()
    events = len(counter.function_events)
    plain = watched = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        plain = min(plain, burst(run, None))
        watched = min(watched, burst(run, make()))
    return (watched - plain) / events * 1e6


def on() -> None:
    rows = [
        ("profile()", lambda: profile()),
        ("record_shapes", lambda: profile(record_shapes=True)),
        ("profile_memory", lambda: profile(profile_memory=True)),
        ("with_flops, shapes and memory", lambda: profile(record_shapes=True, profile_memory=True, with_flops=True)),
        ("with_stack", lambda: profile(with_stack=True)),
    ]
    try:
        import nvtx as nvtx

        rows.append(("emit_nvtx, without a tool", emit_nvtx))
    except ImportError:
        print("nvtx is not installed: no row for emit_nvtx")
    print("| us an event | a + b | w * b, recorded | chain of 50 and backward |\n|---|---|---|---|")
    for title, make in rows:
        costs = [cost(run, make) for run in (call, recorded, chain)]
        over = " **over 1 us**" if title == "profile()" and max(costs) > BUDGET else ""
        print(f"| {title} | " + " | ".join(f"{c:.3f}" for c in costs) + f" |{over}", flush=True)


def off() -> None:
    """The door and the storage ask whether anyone watches: 3 instructions each time, where `watched()` is compiled in."""
    if not shutil.which("valgrind"):
        print("valgrind is not installed: instructions are not counted")
        return
    print("| instructions while nobody watches | in all | |\n|---|---|---|")
    for name in ("add", "recorded mul", "recorded chain of 20, backward"):
        print(f"| {name} | {sum(instructions.per_iteration(name).values()):,.0f} | |", flush=True)


if __name__ == "__main__":
    on()
    if "on" not in sys.argv[1:]:
        off()
