"""Convolutions of generated shapes and their gradients beside PyTorch, by type: how the ratios are distributed, and the worst ten.

`convolutions.py [count] [threads] [seed]`: so many drawn as the convolutions of `layers.py` are, every fourth with a kernel of up to 16 elements a side.
"""

import math
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

from _compare import LIBRARIES, set_threads
from _layer_shapes import ELEMENTS, WORK, Layer, convolution
from every_operation import alternate, page

PARTS = ("value", "of input", "of weight")
TYPES = ("float32", "bfloat16")


def wide(draw: random.Random) -> Layer:
    """With a kernel of many elements, of which the padding may meet most."""
    n, side, k = draw.choice((1, 2, 3)), draw.choice((12, 20, 31, 48)), draw.choice((8, 11, 16))
    batch, channels, out = draw.choice((1, 2, 16)), draw.choice((1, 4, 16, 64)), draw.choice((1, 4, 16, 64))
    transposed, groups = draw.random() < 0.5, channels if draw.random() < 0.2 else 1
    out = channels if groups > 1 else out
    weight = (channels, out // groups, *[k] * n) if transposed else (out, channels // groups, *[k] * n)
    options = dict(padding=draw.choice((0, k // 2)), groups=groups)
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    shapes = [(batch, channels, *[side] * n), weight]
    title = f"{name} {', '.join(' x '.join(map(str, s)) for s in shapes)} {options}"
    work = batch * channels * out // groups * k**n * side**n
    return Layer("convolution", title, lambda lib, *xs: getattr(lib.nn.functional, name)(*xs, **options), shapes, [0, 0], work)


def layers(count: int, seed: int) -> Iterator[Layer]:
    draw = random.Random(seed)
    for i in range(count):
        kind, most = (wide, 8 * WORK) if i % 4 == 3 else (convolution, WORK)
        while (layer := kind(draw)).work > most or max(map(math.prod, layer.shapes)) > ELEMENTS:
            pass
        yield layer


def call(lib: Any, layer: Layer, dtype: str, part: str) -> Callable[[], Any]:
    xs = [lib.randn(*s).to(getattr(lib, dtype)) for s in layer.shapes]
    if part == "value":
        return lambda: layer.call(lib, *xs)
    x = xs[PARTS.index(part) - 1].requires_grad_()
    y = layer.call(lib, *xs)
    v = lib.ones_like(y.detach())
    return lambda: lib.autograd.grad(y, x, v, retain_graph=True)


def main(count: int, threads: int = 1, seed: int = 0, seconds: float = 0.03) -> None:
    set_threads(threads)
    rows = []
    for layer in layers(count, seed):
        for dtype in TYPES:
            for part in PARTS:
                try:
                    thunks = [call(lib, layer, dtype, part) for lib in reversed(LIBRARIES)][::-1]
                    ours, theirs = alternate(thunks, seconds, threads)
                except (RuntimeError, ValueError):  # no such convolution; or one takes seconds
                    continue
                rows.append(
                    dict(name=layer.title, cell=(part, dtype, threads), us=[1e6 * ours, 1e6 * theirs], ratio=theirs / ours)
                )
    page(rows, [], 10)
    for dtype in TYPES:
        print(f"\n{dtype}:")
        page([r for r in rows if r["cell"][1] == dtype], [], 10)


if __name__ == "__main__":
    main(*(int(n) for n in sys.argv[1:4] or ("100",)))
