"""What the tests of kernels share: a kernel against core's reference kernel, and against itself on other numbers of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint_core as ad
from adjoint_kernels_cpu import _kernels

Call = Callable[[], Any]
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 2e-4, "float64": 1e-10, "complex64": 2e-4, "complex128": 1e-10}
DTYPES = list(TOLERANCE)
REAL = DTYPES[:4]


def random(shape: tuple[int, ...], dtype: str, low: float = -3.0, high: float = 3.0, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.uniform(low, high, shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.uniform(low, high, shape)
    return ad.from_numpy(np.ascontiguousarray(values)).to(getattr(ad, dtype))


def integers(shape: tuple[int, ...], low: int, high: int, seed: int = 0) -> Any:
    return ad.from_numpy(np.random.default_rng(seed).integers(low, high, shape))


def as_numpy(x: Any) -> Any:
    return x.to(ad.complex128 if x.is_complex() else ad.float64).contiguous().numpy()


def results(call: Call) -> list[Any]:
    y = call()
    return [as_numpy(t) for t in (y if isinstance(y, (tuple, list)) else (y,))]


def check(name: str, call: Call, tolerance: float) -> None:
    """`call` runs the operation `name`: close to the reference, and the same bits for 1, 2 and 3 threads."""
    _kernels.use_reference(name, True)
    try:
        expected = results(call)
    finally:
        _kernels.use_reference(name, False)
    _kernels.set_num_threads(1)
    one = results(call)
    for threads in (2, 3):
        _kernels.set_num_threads(threads)
        for a, b in zip(one, results(call), strict=True):
            assert a.tobytes() == b.tobytes(), f"{name}: {threads} threads give other bits than one"
    for a, b in zip(one, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
