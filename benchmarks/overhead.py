"""Overhead of small programs: the rows of the design's budget table that are not about large arrays."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from _compare import compare, header, set_threads, torch


def grad_of(lib):
    return lib.autograd.grad


def plain(lib):
    a, b = lib.ones(4), lib.ones(4)

    def run():
        for _ in range(100):
            a + b

    return run


def scalar(lib):
    a = lib.ones(4)

    def run():
        for _ in range(100):
            a * 2.0

    return run


def recorded(lib):
    a, b = lib.ones(4, requires_grad=True), lib.ones(4)

    def run():
        for _ in range(100):
            a * b

    return run


def chain(lib):
    x = lib.ones(1, requires_grad=True)

    def run():
        y = x
        for _ in range(10):
            y = (y * x) + x
        y.backward()
        x.grad = None

    return run


def backward_nodes(lib):
    x = lib.ones(4, requires_grad=True)
    y = x
    for _ in range(500):
        y = (y * x) + x
    y = y.sum()

    def run():
        grad_of(lib)(y, x, retain_graph=True)

    return run


def per_row(lib):
    w = lib.ones(20, 5, requires_grad=True)
    y = (w * 2.0).sin().sum(1)

    def run():
        for i in range(20):
            grad_of(lib)(y[i], w, retain_graph=True)

    return run


def custom_function(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    x = lib.ones(4, requires_grad=True)
    one = lib.ones(4)

    def run():
        Square.apply(x).backward(one)
        x.grad = None

    return run


def forward_mode(lib):
    x, t = lib.ones(4), lib.ones(4)

    def run():
        with lib.autograd.forward_ad.dual_level():
            d = lib.autograd.forward_ad.make_dual(x, t)
            lib.autograd.forward_ad.unpack_dual((d * d).sin())

    return run


def vmapped(lib):
    x = lib.ones(8, 4)
    f = lib.vmap(lambda t: (t * t).sin().sum()) if hasattr(lib, "vmap") else lib.func.vmap(lambda t: (t * t).sin().sum())
    return lambda: f(x)


def hvp(lib):
    x, v = lib.ones(4), lib.ones(4)
    return lambda: lib.autograd.functional.hvp(lambda t: (t * t * t).sum(), x, v)


def hessian(lib):
    x = lib.ones(4)
    return lambda: lib.autograd.functional.hessian(lambda t: (t * t * t).sum(), x)


def jacobian(lib):
    x = lib.ones(4)
    return lambda: lib.autograd.functional.jacobian(lambda t: (t * t).sin(), x)


def mlp_step(lib):
    x = lib.ones(32, 64)
    weights = [lib.full((64, 64), 0.01, requires_grad=True) for _ in range(3)]

    def run():
        h = x
        for w in weights:
            h = (h @ w).tanh()
        (h * h).sum().backward()
        with lib.no_grad():
            for w in weights:
                w -= 0.01 * w.grad
                w.grad = None

    return run


def lstm(lib):
    n = 14
    x = lib.ones(1, n)
    w = lib.full((2 * n, 4 * n), 0.05, requires_grad=True)

    def run():
        h, c = lib.zeros(1, n), lib.zeros(1, n)
        for _ in range(50):
            i, f, g, o = (lib.cat([x, h], 1) @ w).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        h.sum().backward()
        w.grad = None

    return run


def logistic_map(lib):
    r = lib.tensor(3.7, requires_grad=True)

    def run():
        x = lib.tensor(0.4)
        for _ in range(100):
            x = r * x * (1 - x)
        x.backward()
        r.grad = None

    return run


def import_seconds(name: str) -> float:
    code = f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
    return min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5)
    )


def megabytes(*packages: str) -> float:
    site = Path(sysconfig.get_path("platlib"))
    files = (f for p in packages for f in (site / p).rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    return sum(os.stat(f).st_size for f in files) / 1e6


def main() -> None:
    set_threads(1)
    header("Small programs, one thread")
    compare("a + b, 4 elements, nothing recorded", plain, 0.1, per=100)
    compare("a * 2.0", scalar, 0.1, per=100)
    compare("a * b, recorded", recorded, 0.125, per=100)
    compare("20-op chain on 1 element, forward + backward", chain, 8 / 72)
    compare("backward, per node of 1,000", backward_nodes, 0.1, per=1000)
    compare("one backward per output row, 20 rows", per_row, 0.2)
    compare("custom Function, forward + backward", custom_function, 0.25)
    for title, make in [("forward mode", forward_mode), ("vmap", vmapped), ("hvp", hvp), ("hessian", hessian), ("jacobian", jacobian),
                        ("MLP step 32 x 64", mlp_step), ("50 LSTM steps of 14", lstm), ("100 logistic-map steps", logistic_map)]:  # fmt: skip
        compare(title, make, 0.25)
    print(f"\nimport adjoint: {1e3 * import_seconds('adjoint'):.0f} ms (budget 50)", end="")
    print(f"; import torch: {1e3 * import_seconds('torch'):.0f} ms" if torch is not None else "")
    packages = ["adjoint", "adjoint_core", "adjoint_engine", "adjoint_functional", "adjoint_kernels_cpu", "adjoint_profiler"]
    print(
        f"installed: {megabytes(*packages):.1f} MB (budget 5)"
        + (f"; torch {megabytes('torch', 'torchgen'):.0f} MB" if torch is not None else "")
    )


if __name__ == "__main__":
    main()
