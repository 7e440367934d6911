"""Several processes on this machine: all_reduce beside mpi4py's own, steps of data parallel, and a model of their cost.

    python benchmarks/distributed.py [--ranks 1 2 4] [--seconds 2]

It starts itself under mpiexec with each number of ranks, and fits the model of docs/distributed.md to what they print.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

SIZES = [1 << n for n in (10, 14, 17, 20, 22, 24, 26)]  # bytes
BATCH, WIDTH, DEPTH = 256, 512, 4
NETWORK = 1.25e9  # bytes a second: 10 Gbit/s


def least(functions: dict[str, Callable[[], Any]], seconds: float, barrier: Callable[[], None]) -> dict[str, list[float]]:
    """Seconds of single calls on the slowest rank, in turns; ranks begin each together. Figures are the least of these."""
    from mpi4py import MPI

    times: dict[str, list[float]] = {name: [] for name in functions}
    for f in functions.values():
        f()
    end = time.perf_counter() + seconds
    while MPI.COMM_WORLD.bcast(time.perf_counter() < end or len(next(iter(times.values()))) < 5):
        functions = dict(reversed(functions.items()))  # so that each comes after the other as often
        for name, f in functions.items():
            barrier()
            start = time.perf_counter()
            f()
            times[name].append(MPI.COMM_WORLD.allreduce(time.perf_counter() - start, MPI.MAX))
    return times


def measure_sums(seconds: float) -> dict[str, Any]:
    """all_reduce of float32: ours on tensors, and mpi4py's on NumPy arrays, both in place; in a row, and alone with cold caches."""
    import numpy as np
    from mpi4py import MPI

    import adjoint as ad
    import adjoint.distributed as dist

    rows = {}
    for size in SIZES:
        t, a = ad.zeros(size // 4), np.zeros(size // 4, np.float32)
        repeat = max(5, min(50, (1 << 20) // size))

        def ours(repeat: int, t: Any = t) -> None:
            for _ in range(repeat):
                dist.all_reduce(t)

        def theirs(repeat: int, a: Any = a) -> None:
            for _ in range(repeat):
                MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, a)

        calls = {"ours": partial(ours, repeat), "theirs": partial(theirs, repeat)}
        times = least(calls, seconds, MPI.COMM_WORLD.Barrier)
        rows[size] = {name: min(v) / repeat for name, v in times.items()}
        alone = {"ours alone": partial(ours, 1), "theirs alone": partial(theirs, 1)}
        rows[size] |= {name: min(v) for name, v in least(alone, seconds, MPI.COMM_WORLD.Barrier).items()}
    return rows


def slowed(all_reduce: Callable[..., None], network: float) -> Callable[..., None]:
    """A sum over ranks that takes as long as its bytes need on a network of so many bytes a second, which leaves cores alone."""
    import adjoint.distributed as dist

    ranks = dist.get_world_size()

    def run(buffer: Any, op: Any) -> None:
        end = time.perf_counter() + 2 * (ranks - 1) / ranks * buffer.nbytes / network
        all_reduce(buffer, op)
        time.sleep(max(end - time.perf_counter(), 0))

    return run


def measure_steps(ad: Any, seconds: float, network: float | None = None) -> dict[str, Any]:
    """Training steps of a perceptron on a part of the batch: with averages, without, and the averages alone.

    ``ad`` is adjoint or PyTorch, with a world of all ranks.
    """
    from mpi4py import MPI

    dist = ad.distributed
    ranks = dist.get_world_size()
    layers = [layer for _ in range(DEPTH) for layer in (ad.nn.Linear(WIDTH, WIDTH), ad.nn.ReLU())]
    model = ad.nn.parallel.DistributedDataParallel(ad.nn.Sequential(*layers), bucket_cap_mb=1, gradient_as_bucket_view=True)
    optimizer = ad.optim.SGD(model.parameters(), lr=1e-3)
    x = ad.randn(BATCH // ranks, WIDTH)
    if network:
        backend = dist.group.WORLD.backend
        backend.all_reduce = slowed(backend.all_reduce, network)

    rows = [ad.zeros(WIDTH * WIDTH + WIDTH) for _ in range(DEPTH)]

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    def alone() -> None:
        with model.no_sync():
            step()

    def averages() -> None:
        for work in [dist.all_reduce(row, async_op=True) for row in rows]:
            work.wait()

    times = least({"step": step, "alone": alone, "averages": averages}, seconds, MPI.COMM_WORLD.Barrier)
    if network:
        del backend.all_reduce
    return {name: min(v) for name, v in times.items()} | {"bytes": sum(p.numel() * 4 for p in model.parameters())}


def measure_peer(seconds: float) -> dict[str, Any]:
    """The same steps on PyTorch, whose ranks speak by gloo."""
    import torch
    import torch.nn.parallel
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    place = world.bcast(tempfile.mktemp() if world.rank == 0 else None)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{place}", rank=world.rank, world_size=world.size)
    try:
        return measure_steps(torch, seconds)
    finally:
        torch.distributed.destroy_process_group()


def rank(seconds: float) -> None:
    import adjoint as ad
    import adjoint.distributed as dist

    ad.set_num_threads(1)
    dist.init_process_group("mpi")
    import adjoint.nn.parallel

    found = {"steps": measure_steps(ad, seconds)}
    if dist.get_world_size() > 1:
        if find_spec("torch"):
            found["PyTorch"] = measure_peer(seconds)
        found["sums"] = measure_sums(seconds)
        found["on a network"] = measure_steps(ad, seconds, NETWORK)
    if dist.get_rank() == 0:
        print(json.dumps(found))


def started(ranks: int, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "adjoint.distributed.run", "-n", str(ranks), __file__, "--rank", "--seconds", str(seconds)]
    once = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **once}, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def fit(found: dict[int, dict[str, Any]]) -> tuple[float, float]:
    """Latency of a message (s) and time of a byte (s) that fit all_reduce best, each run weighed by its own size.

    t(k, n) = 2 ceil(log2 k) latency + 2 (k - 1) / k n byte.
    """
    rows = [
        (2 * math.ceil(math.log2(k)), 2 * (k - 1) / k * int(n), times["ours"])
        for k, f in found.items()
        for n, times in f.get("sums", {}).items()
    ]
    a, b, c, d, e = (sum(g(u / t, v / t) for u, v, t in rows) for g in (
        lambda u, v: u * u, lambda u, v: u * v, lambda u, v: v * v, lambda u, v: u, lambda u, v: v))  # fmt: skip
    det = a * c - b * b
    return max((d * c - b * e) / det, 0.0), max((a * e - b * d) / det, 0.0)


def report(found: dict[int, dict[str, Any]]) -> None:
    print(
        "\n| all_reduce, float32 | ranks | adjoint us | mpi4py on NumPy us | its speed, share | single calls, cold caches |\n|---|---|---|---|---|---|"
    )
    for k, f in found.items():
        for n, t in f.get("sums", {}).items():
            ours, theirs = t["ours"], t["theirs"]
            print(
                f"| {int(n) >> 10} KiB | {k} | {ours * 1e6:.0f} | {theirs * 1e6:.0f} | {theirs / ours:.2f} | {t['theirs alone'] / t['ours alone']:.2f} |"
            )
    print(
        "\n| step of a perceptron, batch in all 256 | ms | without averages | averages alone | hidden | one process |\n|---|---|---|---|---|---|"
    )
    one = found[1]["steps"]["alone"] if 1 in found else math.nan
    for k, f in found.items():
        for where, said in (
            ("steps", ""),
            ("PyTorch", ", PyTorch over gloo"),
            ("on a network", ", as if 10 Gbit/s lay between them"),
        ):
            if where not in f:
                continue
            s = f[where]
            hidden = f"{max(1 - max(s['step'] - s['alone'], 0) / s['averages'], 0):.0%}" if k > 1 else ""
            averages = f"{s['averages'] * 1e3:.1f}" if k > 1 else ""
            name = f"{k} rank{'s' * (k > 1)}{said}"
            print(f"| {name} | {s['step'] * 1e3:.1f} | {s['alone'] * 1e3:.1f} | {averages} | {hidden} | {one * 1e3:.1f} |")
    if any("sums" in f for f in found.values()):
        predict(*fit(found), one, found[min(found)]["steps"]["bytes"])


def predict(latency: float, byte: float, compute: float, size: int) -> None:
    """What the model says of more ranks that have such a network, each with the whole of that batch."""
    print(
        f"\nfit: latency {latency * 1e6:.1f} us a message, {1e-9 / byte if byte else math.inf:.2f} GB/s; a step computes {compute * 1e3:.1f} ms and averages {size / 1e6:.1f} MB"
    )
    print("\n| ranks | averages ms | hidden at best ms | step ms | of perfect |\n|---|---|---|---|---|")
    for k in (8, 64, 1024):
        averages = 2 * math.ceil(math.log2(k)) * latency + 2 * (k - 1) / k * size * byte
        hidden = min(averages, 2 / 3 * compute)  # backward is two thirds of a step
        step = compute + averages - hidden
        print(f"| {k} | {averages * 1e3:.1f} | {hidden * 1e3:.1f} | {step * 1e3:.1f} | {compute / step:.0%} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        rank(given.seconds)
    else:
        report({k: started(k, given.seconds) for k in given.ranks})


if __name__ == "__main__":
    main()
