"""Products of matrices, convolutions, linear systems, factorisations and Fourier transforms, on one thread and on all.

`products.py shapes [count]` generates products of that many shapes instead, and prints how the ratios are distributed and the worst ten.
"""

import sys
from collections.abc import Iterator

from _arrays import array, row
from _compare import ALL_THREADS, LIBRARIES, Row, Table, main, set_threads
from _product_shapes import generate
from every_operation import alternate, page


def matmul(lib, a, b):
    return a @ b


def convolution(lib, x, w):
    return lib.nn.functional.conv2d(x, w, padding=1)


def factorisation(name):
    """Of a positive definite matrix, so that all of them work."""

    def run(lib, a):
        return getattr(lib.linalg, name)(a @ a.mT + lib.eye(128))

    return run


def products() -> Iterator[Row]:
    for n in (16, 32, 64, 128, 256, 512, 1024):
        yield row(f"matmul {n}", matmul, array(n, n), array(n, n))
        yield row(f"matmul {n} transposed", matmul, array(n, n), lambda lib, n=n: array(n, n)(lib).t())
    for n in (16, 32, 64):
        yield row(f"bmm 256 x {n}", matmul, *2 * [array(256, n, n)])
    for dtype in ("float64", "complex64", "bfloat16"):
        yield row(f"matmul 256 {dtype}", matmul, *2 * [array(256, 256, dtype=dtype)])
    yield row("matrix by vector 2048", matmul, array(2048, 2048), array(2048))
    for channels in (16, 64):
        yield row(f"conv2d 8x{channels}x32x32", convolution, array(8, channels, 32, 32), array(channels, channels, 3, 3))
    yield row("solve 256", lambda lib, a, b: lib.linalg.solve(a, b), array(256, 256), array(256, 8))
    yield row("solve 1000 x 8", lambda lib, a, b: lib.linalg.solve(a, b), array(1000, 8, 8), array(1000, 8, 1))
    for name in ("cholesky", "inv", "det", "qr", "svd", "eigh", "eig"):
        yield row(f"{name} 128", factorisation(name), array(128, 128))
    for sizes in ((1024,), (65536,), (256, 256)):
        yield row(f"fft {'x'.join(map(str, sizes))}", lambda lib, x: lib.fft.fft(x), array(*sizes, dtype="complex64"))


def shapes(count: int, threads: int, seconds: float = 0.05) -> None:
    set_threads(threads)
    rows = []
    for product in generate(count):
        for mode in ("value", "gradient"):
            ours, theirs = alternate([product.make(lib, mode == "gradient") for lib in LIBRARIES], seconds, threads)
            cell = (mode, product.dtype, threads)
            rows.append(dict(name=product.title, cell=cell, us=[1e6 * ours, 1e6 * theirs], ratio=theirs / ours))
    page(rows, [], 10)


if __name__ == "__main__" and "shapes" in sys.argv:
    for threads in dict.fromkeys((1, ALL_THREADS)):
        shapes(int(sys.argv[2]) if len(sys.argv) > 2 else 200, threads)
elif __name__ == "__main__":
    main(Table("Products", list(products()), together=1.8, threads=(1, ALL_THREADS)))
