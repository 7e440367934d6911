"""Layers of generated shapes beside PyTorch, with and without gradient: the distribution by family, and the worst rows.

`layers.py [--count 300] [--families convolution pool ...] [--threads 1]` draws other shapes with another `--seed`.
"""

import argparse

from _compare import LIBRARIES, set_threads
from _layer_shapes import FAMILIES, Layer, generate
from every_operation import alternate, page


def is_possible(layer: Layer) -> bool:
    """Whether the peer takes it; without one, whether we do."""
    try:
        layer.make(LIBRARIES[-1], True)()
    except (RuntimeError, ValueError):
        return False
    return True


def rows(layer: Layer, threads: int, seconds: float) -> list[dict[str, object]]:
    found = []
    for mode in ("value", "gradient"):
        ours, theirs = alternate([layer.make(lib, mode == "gradient") for lib in LIBRARIES], seconds, threads)
        cell = (layer.family, mode, threads)
        found.append(dict(name=layer.title, cell=cell, us=[1e6 * ours, 1e6 * theirs], ratio=theirs / ours))
    return found


def main() -> None:
    named = {f.__name__: f for f in FAMILIES}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--families", nargs="+", choices=named, default=list(named))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.03, help="a row")
    parser.add_argument("--worst", type=int, default=30)
    chosen = parser.parse_args()
    set_threads(chosen.threads)
    layers = generate(chosen.count, tuple(named[name] for name in chosen.families), chosen.seed)
    page([r for layer in layers if is_possible(layer) for r in rows(layer, chosen.threads, chosen.seconds)], [], chosen.worst)


if __name__ == "__main__":
    main()
