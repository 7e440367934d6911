"""Fourier transforms of generated lengths, of complex and real lines, beside PyTorch: how the ratios are distributed, and the worst ten.

`fourier.py [count]`: so many lengths, drawn evenly by their logarithm between 2 and 100,000, after all from 2 to 32.
"""

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

from _compare import LIBRARIES, set_threads
from every_operation import alternate, page

ELEMENTS = 200_000  # of all lines together


def lengths(count: int) -> Iterator[int]:
    r = random.Random(0)
    yield from range(2, 33)
    for _ in range(count):
        yield round(2 * 50_000 ** r.random())


def transform(lib: Any, n: int, dtype: str) -> Callable[[], Any]:
    x = lib.randn(max(1, ELEMENTS // n), n, dtype=getattr(lib, dtype))
    return lambda: lib.fft.fft(x)


def main(count: int, threads: int = 1, seconds: float = 0.03) -> None:
    set_threads(threads)
    rows = []
    for n in lengths(count):
        for dtype in ("complex64", "float32"):
            ours, theirs = alternate([transform(lib, n, dtype) for lib in LIBRARIES], seconds, threads)
            cell = ("value", dtype, threads)
            rows.append({"name": f"fft of {n}", "cell": cell, "us": [1e6 * ours, 1e6 * theirs], "ratio": theirs / ours})
    page(rows, [], 10)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
