"""What is measured of a call: how its inputs are laid out, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from _calls import Call, Shapes

MODES = ("small", "small, gradient", "forward mode", "vmap", "large", "large, gradient")
MEMORY = "large, memory"  # a mode of its own: its figures are bytes
LAYOUTS = ("contiguous", "short last", "transposed")
DTYPES = ("float32", "float64", "bfloat16", "complex64", "int64")
LARGE = 1_000_000
Thunk = Callable[[], object]


def largest(shapes: Shapes) -> int:
    return max((int(np.prod(s)) for s in shapes), default=0)


def sizes_times(shapes: Shapes, goal: int) -> Shapes:
    """Every dimension longer by one factor."""
    dims = max(sum(n > 1 for n in s) for s in shapes)
    k = round((goal / largest(shapes)) ** (1 / max(dims, 1)))
    return [tuple(n * k if n > 1 else n for n in s) for s in shapes]


def rows_times(shapes: Shapes, goal: int) -> Shapes:
    """The first dimension longer, of all inputs that share it."""
    first, k = max(shapes, key=len)[0], goal // largest(shapes)
    return [(s[0] * k, *s[1:]) if s and s[0] == first else s for s in shapes]


def batches(shapes: Shapes, goal: int) -> Shapes:
    """A dimension in front of all inputs."""
    return [(goal // largest(shapes), *s) for s in shapes]


def large_shapes(call: Call, layout: str, goal: int) -> Iterator[Shapes]:
    """Shapes at which the call may be possible, the best first."""
    if call.elementwise:
        side = round(goal**0.5)
        yield [((goal // 4, 4) if layout == "short last" else (side, side)) if s else s for s in call.shapes]
    elif largest(call.shapes) > 0:
        ways = (rows_times, batches) if layout == "short last" else (sizes_times, rows_times, batches)
        for way in ways:
            try:
                yield way(call.shapes, goal)
            except IndexError:  # a way for matrices
                continue


def cast(array: np.ndarray, dtype: str) -> np.ndarray | None:
    """The array where the type is NumPy's, None where it does not apply: positions and masks keep theirs."""
    if array.dtype.kind not in "fc":
        return array
    if dtype == "int64":
        return np.ceil(np.abs(array)).astype(np.int64)
    return array.astype("float32" if dtype == "bfloat16" else dtype)


def tensors(lib: Any, arrays: Sequence[np.ndarray], dtype: str, transposed: bool) -> list[Any]:
    found = []
    for array in arrays:
        x = lib.from_numpy(cast(array, dtype))
        if dtype == "bfloat16" and array.dtype.kind == "f":
            x = x.to(lib.bfloat16)
        found.append(x.mT.contiguous().mT if transposed and x.ndim > 1 else x)
    return found


def flat(result: Any, lib: Any) -> list[Any]:
    """The tensors of a result that have a gradient."""
    if isinstance(result, lib.Tensor):
        return [result] if result.dtype.is_floating_point or result.dtype.is_complex else []
    return [t for part in result for t in flat(part, lib)] if isinstance(result, (tuple, list)) else []


def floating(xs: Sequence[Any]) -> list[int]:
    return [i for i, x in enumerate(xs) if x.dtype.is_floating_point or x.dtype.is_complex]


def value(lib: Any, call: Call, xs: list[Any]) -> Thunk:
    return call.bind(lib, xs)


def gradient(lib: Any, call: Call, xs: list[Any]) -> Thunk:
    """The call and its backward, with ones for cotangents."""
    leaves = [xs[i].requires_grad_() for i in floating(xs)]
    function = call.bind(lib, xs)
    ys = [y for y in flat(function(), lib) if y.requires_grad]
    if not ys or not leaves:
        raise NotImplementedError("nothing to differentiate")
    vs = [lib.ones_like(y) for y in ys]

    def run() -> object:
        found = [y for y in flat(function(), lib) if y.requires_grad]
        return lib.autograd.grad(found, leaves, vs, allow_unused=True)

    run()
    return run


def forward(lib: Any, call: Call, xs: list[Any]) -> Thunk:
    fwd = lib.autograd.forward_ad
    at, tangents = floating(xs), [lib.ones_like(x) for x in xs]
    if not at:
        raise NotImplementedError("nothing to differentiate")

    def run() -> object:
        with fwd.dual_level():
            return call.bind(lib, [fwd.make_dual(x, tangents[i]) if i in at else x for i, x in enumerate(xs)])()

    return run


def mapped(lib: Any, call: Call, xs: list[Any]) -> Thunk:
    lanes = [lib.stack([x] * 4) for x in xs]
    function = lib.func.vmap(lambda *x: call.bind(lib, list(x))())
    return lambda: function(*lanes)


# What is done, or, if PyTorch cannot do that, by both instead: an operation without a derivative has a peak of memory too.
MAKE = {
    "small": (value,),
    "small, gradient": (gradient,),
    "forward mode": (forward,),
    "vmap": (mapped,),
    "large": (value,),
    "large, gradient": (gradient,),
    MEMORY: (gradient, value),
}
