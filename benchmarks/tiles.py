"""Gradients of large elementwise functions tile by tile beside the same rules whole: how the ratios are distributed, and the worst and best ten.

`tiles.py [threads]`: functions of one and two tensors are found by name; a profiler that is open keeps tiles off. Functions whose rules are not cut
have ratios of one, but for noise.
"""

import contextlib
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import adjoint as ad

N = 1_000_000
ROUNDS = 9
SHORTEST = 2e-5  # seconds: what looks at no element is none of them


def found(numbers: list[Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What takes the gradient of each function, once for a node's name."""
    seen = set()
    for room in (ad, ad.special, ad.nn.functional):
        for name in sorted(n for n in dir(room) if not n.startswith("_") and not n.endswith("_")):
            for count in (1, 2):
                f: Any = getattr(room, name)
                with contextlib.suppress(Exception):  # most names are of something else
                    small = f(*(x[:64].clone().requires_grad_() for x in numbers[:count]))
                    key = small.grad_fn.name(), count
                    if key in seen or small.shape != (64,) or small.dtype is not ad.float32:
                        continue
                    seen.add(key)
                    given = [x.clone().requires_grad_() for x in numbers[:count]]
                    y = f(*given)
                    run = lambda y=y, given=given: ad.autograd.grad(y, given, numbers[2], retain_graph=True)  # noqa: E731
                    start = time.perf_counter()
                    run()
                    if time.perf_counter() - start > SHORTEST:
                        yield name if room is ad else f"{room.__name__.split('.')[-1]}.{name}", run


def least(run: Callable[[], Any], clock: Callable[[], float]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def main(threads: int) -> None:
    warnings.simplefilter("ignore")
    ad.set_num_threads(threads)
    clock = time.thread_time if threads == 1 else time.perf_counter
    numbers = [ad.rand(N, generator=ad.Generator().manual_seed(seed)) * 0.9 + 0.05 for seed in range(3)]
    rows = []
    for name, run in found(numbers):
        tiled = whole = math.inf
        for _ in range(2):  # in turns
            tiled = min(tiled, least(run, clock))
            with ad.profiler.profile():
                whole = min(whole, least(run, clock))
        rows.append((whole / tiled, name, 1e6 * tiled, 1e6 * whole))
    rows.sort()
    ratios = [r[0] for r in rows]
    quartiles = ", ".join(f"{ratios[int(len(ratios) * q)]:.2f}" for q in (0.05, 0.25, 0.5, 0.75, 0.95))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(rows)} functions, {threads} threads: geometric mean {mean:.2f}; 5, 25, 50, 75, 95 %: {quartiles}\n")
    print("| function | by tiles us | whole us | times faster |\n|---|---|---|---|")
    for ratio, name, tiled, whole in rows[:10] + rows[-10:]:
        print(f"| {name} | {tiled:.0f} | {whole:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
