"""Layers of generated shapes: convolutions, pools, norms, attention, resampling, losses, and rows at positions, with their options."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

WORK = 4e8  # multiplications of one layer
ELEMENTS = 2_000_000  # of one operand
Shape = tuple[int, ...]
Thunk = Callable[[], object]


@dataclass(frozen=True)
class Layer:
    """`call(library, *operands)`; below: of each operand, the number that its integers stay below, or 0 of real numbers."""

    family: str
    title: str
    call: Callable[..., Any]
    shapes: list[Shape]
    below: list[int]
    work: float = 0

    def make(self, lib: Any, grad: bool) -> Thunk:
        xs = [_operand(lib, s, b, i) for i, (s, b) in enumerate(zip(self.shapes, self.below, strict=True))]
        if not grad:
            return lambda: self.call(lib, *xs)
        leaves = [x.requires_grad_() for x, b in zip(xs, self.below, strict=True) if not b]
        v = lib.ones_like(self.call(lib, *xs).detach())
        return lambda: lib.autograd.grad(self.call(lib, *xs), leaves, v)


def _operand(lib: Any, shape: Shape, below: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lib.from_numpy(rng.integers(0, below, shape) if below else rng.standard_normal(shape).astype(np.float32))


def _said(options: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _layer(
    family: str, name: str, shapes: list[Shape], below: dict[int, int] | None = None, work: float = 0, **options: Any
) -> Layer:
    """Of a function of nn.functional; below: of the operands that hold integers, by their place."""
    at = [(below or {}).get(i, 0) for i in range(len(shapes))]
    title = f"{name} {', '.join(' x '.join(map(str, s)) for s in shapes)} {_said(options)}".rstrip()
    return Layer(family, title, lambda lib, *xs: getattr(lib.nn.functional, name)(*xs, **options), shapes, at, work)


SIDES = {1: (5, 32, 128, 1000), 2: (1, 2, 4, 7, 8, 14, 28, 56), 3: (2, 4, 8, 12)}


def _image(draw: random.Random) -> tuple[int, int, int, Shape]:
    """How many dimensions, images, channels, and the sides of one."""
    n = draw.choice((1, 2, 2, 2, 3))
    side = draw.choice(SIDES[n])
    sides = (side,) * n if draw.random() < 0.7 else tuple(draw.choice(SIDES[n]) for _ in range(n))
    return n, draw.choice((1, 2, 8, 32, 64)), draw.choice((1, 3, 4, 8, 16, 32, 64, 128)), sides


def convolution(draw: random.Random) -> Layer:
    n, batch, channels, sides = _image(draw)
    out, k, stride = (
        draw.choice((1, 4, 8, 16, 32, 64, 128)),
        draw.choice((1, 2, 3, 3, 3, 4, 5, 7)),
        draw.choice((1, 1, 1, 2, 2, 3)),
    )
    transposed, groups = draw.random() < 0.3, draw.choice((1, 1, 1, 1, 2, 0))
    if groups == 0:  # of each channel its own
        groups, out = channels, channels
    elif channels % groups or out % groups:
        groups = 1
    padding = draw.choice((0, 0, k // 2))
    weight = (channels, out // groups, *[k] * n) if transposed else (out, channels // groups, *[k] * n)
    work = batch * channels * out // groups * k**n * math.prod(sides) / (1 if transposed else stride**n)
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    options = dict(stride=stride, padding=padding, dilation=draw.choice((1, 1, 1, 1, 2)), groups=groups)
    return _layer("convolution", name, [(batch, channels, *sides), weight], work=work, **options)


def pool(draw: random.Random) -> Layer:
    n, batch, channels, sides = _image(draw)
    k = draw.choice((2, 2, 3, 3, 5))
    options: dict[str, Any] = dict(kernel_size=k, stride=draw.choice((1, 2, k)), padding=draw.choice((0, k // 2)))
    kind = draw.choice(("max", "max", "avg", "avg", "adaptive_avg", "adaptive_max"))
    if kind.startswith("adaptive"):
        options = dict(output_size=draw.choice((1, 1, 3, 7)))
    return _layer("pool", f"{kind}_pool{n}d", [(batch, channels, *sides)], **options)


def norm(draw: random.Random) -> Layer:
    n, batch, channels, sides = _image(draw)
    image = (batch, channels, *sides)
    kind = draw.choice(("layer", "layer", "rms", "batch", "batch", "group", "instance", "normalize"))
    if kind in ("layer", "rms"):
        rows, width = draw.choice((1, 16, 200, 2000)), draw.choice((3, 32, 100, 768, 1024))
        return _layer("norm", f"{kind}_norm", [(rows, width)], normalized_shape=(width,))
    if kind == "batch":
        call = lambda lib, x, w, b: lib.nn.functional.batch_norm(x, None, None, w, b, training=True)  # noqa: E731
        return Layer("norm", f"batch_norm {' x '.join(map(str, image))}", call, [image, (channels,), (channels,)], [0, 0, 0])
    if kind == "group":
        return _layer("norm", "group_norm", [image], num_groups=draw.choice([g for g in (1, 2, 4, 8) if channels % g == 0]))
    return _layer("norm", "instance_norm" if kind == "instance" else kind, [image])


def attention(draw: random.Random) -> Layer:
    batch, heads, d = draw.choice((1, 2, 8)), draw.choice((1, 4, 8)), draw.choice((8, 16, 32, 64, 100))
    n, m = (draw.choice((1, 5, 16, 64, 128, 257)) for _ in range(2))
    causal = draw.random() < 0.4
    shapes = [(batch, heads, s, d) for s in (n, n if causal else m, n if causal else m)]
    if not causal and draw.random() < 0.4:
        shapes.append((n, m))  # what is added to the scores
    return _layer("attention", "scaled_dot_product_attention", shapes, work=2 * batch * heads * n * m * d, is_causal=causal)


def resampling(draw: random.Random) -> Layer:
    n, batch, channels, sides = _image(draw)
    image = [(batch, channels, *sides)]
    kind = draw.choice(("interpolate", "interpolate", "grid_sample", "pad"))
    if kind == "pad":
        mode = draw.choice(("constant", "reflect", "replicate", "circular"))
        return _layer("resampling", "pad", image, pad=(1,) * (2 * n), mode=mode)
    if kind == "grid_sample" and n == 2:
        to = (batch, draw.choice((4, 16, 32)), draw.choice((4, 16, 32)), 2)
        return _layer(
            "resampling", "grid_sample", [*image, to], align_corners=False, mode=draw.choice(("bilinear", "nearest", "bicubic"))
        )
    mode = draw.choice(("nearest", {1: "linear", 2: "bilinear", 3: "trilinear"}[n], "bicubic" if n == 2 else "area"))
    return _layer("resampling", "interpolate", image, scale_factor=draw.choice((0.5, 2.0, 2.0, 1.7)), mode=mode)


def loss(draw: random.Random) -> Layer:
    rows, classes = draw.choice((1, 16, 256, 4000)), draw.choice((2, 10, 100, 1000))
    kind = draw.choice(
        (
            "cross_entropy",
            "cross_entropy",
            "nll_loss",
            "mse_loss",
            "smooth_l1_loss",
            "l1_loss",
            "binary_cross_entropy_with_logits",
            "kl_div",
        )
    )
    reduction = draw.choice(("mean", "mean", "sum", "none"))
    if kind in ("cross_entropy", "nll_loss"):
        behind = draw.choice(((), (), (7,), (8, 8))) if rows < 1000 else ()
        return _layer("loss", kind, [(rows, classes, *behind), (rows, *behind)], {1: classes}, reduction=reduction)
    return _layer("loss", kind, [(rows, classes)] * 2, reduction=reduction)


def positions(draw: random.Random) -> Layer:
    n, m, width = draw.choice((10, 300, 10_000)), draw.choice((5, 200, 5000)), draw.choice((1, 4, 33, 128))
    kind = draw.choice(
        ("embedding", "embedding_bag", "index_select", "index_add", "gather", "scatter_add", "take_along_dim", "index")
    )
    if kind == "embedding":
        return _layer("positions", kind, [(m,), (n, width)], {0: n})
    if kind == "embedding_bag":
        return _layer("positions", kind, [(m, 7), (n, width)], {0: n}, mode=draw.choice(("sum", "mean")))
    dim = draw.choice((0, 1)) if kind in ("gather", "scatter_add", "take_along_dim") else 0
    at: Shape = (m,) if dim == 0 and kind.startswith("index") else (m, width) if dim == 0 else (n, m // 5)
    below, title = (n if dim == 0 else width), f"{kind} {n} x {width} dim={dim} at {' x '.join(map(str, at))}"
    source = [(m, width)] if kind == "index_add" else [at] if kind == "scatter_add" else []
    calls: dict[str, Callable[..., Any]] = {
        "index": lambda lib, x, i: x[i],
        "index_select": lambda lib, x, i: x.index_select(0, i),
        "index_add": lambda lib, x, i, v: x.index_add(0, i, v),
        "gather": lambda lib, x, i: x.gather(dim, i),
        "take_along_dim": lambda lib, x, i: lib.take_along_dim(x, i, dim),
        "scatter_add": lambda lib, x, i, v: x.scatter_add(dim, i, v),
    }
    return Layer("positions", title, calls[kind], [(n, width), at, *source], [0, below, *[0] * len(source)])


FAMILIES = (convolution, pool, norm, attention, resampling, loss, positions)


def generate(count: int, families: tuple[Callable[[random.Random], Layer], ...] = FAMILIES, seed: int = 0) -> Iterator[Layer]:
    """The same layers each time, as many of each family; whether PyTorch takes them is for the caller to see."""
    draw = random.Random(seed)
    for i in range(count):
        while (layer := families[i % len(families)](draw)).work > WORK or max(map(math.prod, layer.shapes)) > ELEMENTS:
            pass
        yield layer
