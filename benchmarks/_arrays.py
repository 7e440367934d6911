"""Arguments of the kernels' benchmarks: the same values for both libraries."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from _compare import Row

Argument = Callable[[Any], Any]
BIG = (2048, 2048)  # 4 M elements


@cache
def values(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.1, 3, shape).astype(np.float32)


def array(*shape: int, dtype: str = "float32") -> Argument:
    """Values in [0.1, 3)."""
    return lambda lib: lib.from_numpy(values(shape)).to(getattr(lib, dtype))


def positions(*shape: int, below: int) -> Argument:
    """Random integers in [0, below)."""
    return lambda lib: lib.from_numpy(np.random.default_rng(0).integers(0, below, shape))


def row(title: str, call: Callable[..., object], *arguments: Argument) -> Row:
    """Times `call(library, *arguments)`; it has to be as fast as PyTorch."""

    def make(lib: Any) -> Callable[[], object]:
        given = [argument(lib) for argument in arguments]
        return lambda: call(lib, *given)

    return Row(title, make, 1.0)
