"""CPU kernels against PyTorch's: both in one process, calls alternating, minima of repeats.

    python benchmarks/kernels.py [threads] [substrings of rows' names]

Prints microseconds and PyTorch's time over adjoint's. Without PyTorch only adjoint's times are printed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # they choose kernels and panels for another machine
    os.environ.pop(variable, None)

import numpy as np  # noqa: E402

import adjoint  # noqa: E402
import adjoint_core as ad  # noqa: E402
import adjoint_kernels_cpu  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

Row = tuple[str, Callable[[Any, Any], Callable[[], Any]]]


def tensor(library: Any, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    values = np.random.default_rng(sum(shape)).uniform(0.1, 3, shape).astype(np.float32)
    return library.from_numpy(values).to(getattr(library, dtype))


def random_positions(library: Any, shape: tuple[int, ...], size: int) -> Any:
    return library.from_numpy(np.random.default_rng(0).integers(0, size, shape))


def gradient(library: Any, y: Any, x: Any, v: Any) -> Any:
    return (adjoint if library is ad else library).autograd.grad(y, x, v)


def functional(library: Any) -> Any:
    return library.nn_functional if library is ad else library.nn.functional


def elementwise() -> Iterator[Row]:
    shape = (2048, 2048)
    for name in "neg abs relu exp log expm1 log1p sin cos tanh sigmoid erf sqrt".split():
        for dtype in ("float32", "float64"):
            yield (
                f"{name} {dtype}",
                lambda lib, _, name=name, dtype=dtype: lambda x=tensor(lib, shape, dtype), f=getattr(lib, name): f(x),
            )
    for name in "add mul div maximum lt pow atan2".split():
        yield f"{name} float32", lambda lib, _, name=name: lambda x=tensor(lib, shape), f=getattr(lib, name): f(x, x)
    for dtype in ("float16", "bfloat16", "complex64"):
        yield f"add {dtype}", lambda lib, _, dtype=dtype: lambda x=tensor(lib, shape, dtype): x + x
    yield "add column", lambda lib, _: lambda x=tensor(lib, shape), y=tensor(lib, (2048, 1)): x + y
    yield "add transposed", lambda lib, _: lambda x=tensor(lib, shape): x.t() + x
    yield "transposed copy", lambda lib, _: lambda x=tensor(lib, shape): x.t().contiguous()
    yield "to float64", lambda lib, _: lambda x=tensor(lib, shape): x.to(lib.float64)
    yield "clamp", lambda lib, _: lambda x=tensor(lib, shape): lib.clamp(x, 0.5, 2.0)
    yield "gelu", lambda lib, f: lambda x=tensor(lib, shape): f.gelu(x)
    yield "where", lambda lib, _: lambda x=tensor(lib, shape): lib.where(x > 1, x, x)


def reductions() -> Iterator[Row]:
    shape = (2048, 2048)
    for name in "sum mean amax var logsumexp".split():
        for dims in ((0, 1), (1,), (0,)):
            yield (
                f"{name} {dims}",
                lambda lib, _, name=name, dims=dims: lambda x=tensor(lib, shape), f=getattr(lib, name): f(x, dims),
            )
    for dim in (1, 0):
        yield f"softmax {dim}", lambda lib, _, dim=dim: lambda x=tensor(lib, shape): lib.softmax(x, dim)
        yield f"log_softmax {dim}", lambda lib, _, dim=dim: lambda x=tensor(lib, shape): lib.log_softmax(x, dim)
    yield "layer_norm", lambda lib, f: lambda x=tensor(lib, shape), w=tensor(lib, (2048,)): f.layer_norm(x, (2048,), w, w)


def more_reductions() -> Iterator[Row]:
    shape = (2048, 2048)
    for dtype in ("int64", "complex64", "float16"):
        yield f"sum {dtype}", lambda lib, _, dtype=dtype: lambda x=tensor(lib, shape, dtype): lib.sum(x)
        yield f"sum 0 {dtype}", lambda lib, _, dtype=dtype: lambda x=tensor(lib, shape, dtype): lib.sum(x, 0)
    yield "amax int64", lambda lib, _: lambda x=tensor(lib, shape, "int64"): lib.amax(x, 1)
    for dim in (1, 0):
        for name in "argmax max".split():
            yield (
                f"{name} {dim}",
                lambda lib, _, name=name, dim=dim: lambda x=tensor(lib, shape), f=getattr(lib, name): f(x, dim),
            )
    yield "argmin flat", lambda lib, _: lambda x=tensor(lib, shape): lib.argmin(x)
    yield "any bool", lambda lib, _: lambda x=tensor(lib, shape) > 5: lib.any(x)
    yield "all bool 1", lambda lib, _: lambda x=tensor(lib, shape) < 5: lib.all(x, 1)
    for p in (2, 1, float("inf")):
        yield f"norm {p}", lambda lib, _, p=p: lambda x=tensor(lib, shape): lib.norm(x, p)
        yield f"norm {p} 1", lambda lib, _, p=p: lambda x=tensor(lib, shape): lib.norm(x, p, 1)


def lines() -> Iterator[Row]:
    shape = (2048, 2048)
    for dim in (1, 0):
        yield f"cumsum {dim}", lambda lib, _, dim=dim: lambda x=tensor(lib, shape): lib.cumsum(x, dim)
        yield f"cumprod {dim}", lambda lib, _, dim=dim: lambda x=tensor(lib, shape): lib.cumprod(x, dim)
    yield "cumsum flat", lambda lib, _: lambda x=tensor(lib, (1 << 22,)): lib.cumsum(x, 0)
    yield "sort 1 Mi", lambda lib, _: lambda x=tensor(lib, (1 << 20,)): lib.sort(x)
    yield "sort 512 x 2048", lambda lib, _: lambda x=tensor(lib, (512, 2048)): lib.sort(x)
    yield "sort 65536 x 16", lambda lib, _: lambda x=tensor(lib, (65536, 16)): lib.sort(x)
    yield "topk 100 of 1 Mi", lambda lib, _: lambda x=tensor(lib, (1 << 20,)): lib.topk(x, 100)
    yield "topk 10 of 2048", lambda lib, _: lambda x=tensor(lib, shape): lib.topk(x, 10)


def positions() -> Iterator[Row]:
    shape = (2048, 2048)
    for dim in (1, 0):
        yield (
            f"index_select {dim}",
            lambda lib, _, dim=dim: (
                lambda x=tensor(lib, shape), i=random_positions(lib, (2048,), 2048): lib.index_select(x, dim, i)
            ),
        )
        yield (
            f"gather {dim}",
            lambda lib, _, dim=dim: lambda x=tensor(lib, shape), i=random_positions(lib, shape, 2048): lib.gather(x, dim, i),
        )
        for name in ("scatter_add", "scatter"):
            yield (
                f"{name} {dim}",
                lambda lib, _, dim=dim, name=name: (
                    lambda x=tensor(lib, shape), i=random_positions(lib, shape, 2048), f=getattr(lib, name): f(x, dim, i, x)
                ),
            )
        yield (
            f"index_add {dim}",
            lambda lib, _, dim=dim: (
                lambda x=tensor(lib, shape), i=random_positions(lib, (2048,), 2048): lib.index_add(x, dim, i, x)
            ),
        )
    yield (
        "index_add 1 Mi",
        lambda lib, _: (
            lambda x=tensor(lib, (1 << 20,)), i=random_positions(lib, (1 << 20,), 1 << 20): lib.index_add(x, 0, i, x)
        ),
    )
    yield (
        "embedding",
        lambda lib, f: lambda x=tensor(lib, (10000, 256)), i=random_positions(lib, (64, 128), 10000): f.embedding(i, x),
    )
    yield (
        "embedding gradient",
        lambda lib, f: (
            lambda x=tensor(lib, (10000, 256)).requires_grad_(), v=tensor(lib, (64, 128, 256)), i=random_positions(lib, (64, 128), 10000): (
                gradient(lib, f.embedding(i, x), x, v)
            )
        ),
    )


def networks() -> Iterator[Row]:
    images = (32, 64, 56, 56)
    yield (
        "batch_norm",
        lambda lib, f: lambda x=tensor(lib, images), w=tensor(lib, (64,)): f.batch_norm(x, None, None, w, w, True),
    )
    yield (
        "batch_norm 2d",
        lambda lib, f: lambda x=tensor(lib, (4096, 512)), w=tensor(lib, (512,)): f.batch_norm(x, None, None, w, w, True),
    )
    yield "max_pool2d 2", lambda lib, f: lambda x=tensor(lib, images): f.max_pool2d(x, 2)
    yield "max_pool2d 3, 2", lambda lib, f: lambda x=tensor(lib, images): f.max_pool2d(x, 3, 2, 1)
    yield "avg_pool2d 2", lambda lib, f: lambda x=tensor(lib, images): f.avg_pool2d(x, 2)
    yield "avg_pool2d 3, 1", lambda lib, f: lambda x=tensor(lib, images): f.avg_pool2d(x, 3, 1, 1)
    yield (
        "cross_entropy",
        lambda lib, f: lambda x=tensor(lib, (2048, 1000)), i=random_positions(lib, (2048,), 1000): f.cross_entropy(x, i),
    )
    yield (
        "nll_loss",
        lambda lib, f: lambda x=tensor(lib, (2048, 1000)), i=random_positions(lib, (2048,), 1000): f.nll_loss(x, i),
    )


def products() -> Iterator[Row]:
    for n in (16, 32, 64, 128, 256, 512, 1024):
        yield f"matmul {n}", lambda lib, _, n=n: lambda x=tensor(lib, (n, n)): x @ x
        yield f"matmul {n} transposed", lambda lib, _, n=n: lambda x=tensor(lib, (n, n)): x @ x.t()
    for n in (16, 32, 64):
        yield f"bmm 256 x {n}", lambda lib, _, n=n: lambda x=tensor(lib, (256, n, n)): x @ x
    for dtype in ("float64", "complex64", "bfloat16"):
        yield f"matmul 256 {dtype}", lambda lib, _, dtype=dtype: lambda x=tensor(lib, (256, 256), dtype): x @ x
    yield "matrix by vector 2048", lambda lib, _: lambda x=tensor(lib, (2048, 2048)), y=tensor(lib, (2048,)): x @ y
    yield (
        "conv2d 8x16x32x32",
        lambda lib, f: lambda x=tensor(lib, (8, 16, 32, 32)), w=tensor(lib, (16, 16, 3, 3)): f.conv2d(x, w, padding=1),
    )
    yield (
        "conv2d 8x64x32x32",
        lambda lib, f: lambda x=tensor(lib, (8, 64, 32, 32)), w=tensor(lib, (64, 64, 3, 3)): f.conv2d(x, w, padding=1),
    )


def microseconds(call: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats * 1e6


def measure(calls: list[Callable[[], Any]], seconds: float = 0.3) -> list[float]:
    """The least time of each call; they take turns, so that a disturbance meets all."""
    repeats = max(1, int(200 / max(microseconds(c, 1) for c in calls)))
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        best = [min(b, microseconds(c, repeats)) for b, c in zip(best, calls, strict=True)]
    return best


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    wanted = sys.argv[2:] or [""]
    libraries = [ad] if torch is None else [ad, torch]
    adjoint_kernels_cpu.set_num_threads(threads)
    if torch is not None:
        torch.set_num_threads(threads)
    print(f"{threads} threads; microseconds{'' if torch is None else ', PyTorch, ratio'}")
    for rows in (elementwise, reductions, more_reductions, lines, positions, networks, products):
        for name, make in rows():
            if not any(part in name for part in wanted):
                continue
            times = measure([make(lib, functional(lib)) for lib in libraries])
            ratio = f"{times[1]:12.1f} {times[1] / times[0]:6.2f}" if len(times) > 1 else ""
            print(f"{name:26}{times[0]:12.1f} {ratio}", flush=True)


if __name__ == "__main__":
    main()
