"""Pools of operands that lie in any order, of any type: random ones, against core's reference kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_checks import REAL, TOLERANCE, check

import adjoint as ad

F = ad.nn.functional
TYPES = [*REAL, "int64", "int32", "uint8"]


def planes(rng: np.random.Generator, dtype: str, spatial: int) -> Any:
    """Few channels and many, in groups of 32 or not, some of them with all dimensions in another order, or with gaps; whole
    numbers that floats hold, that doubles hold, and that neither does."""
    shape = [
        int(rng.integers(1, 4)),
        int(rng.choice([1, 15, 16, 31, 32, 33, 70])),
        *rng.integers(1, (0, 60, 20, 9)[spatial], spatial),
    ]
    order = [[0, *range(2, spatial + 2), 1], list(rng.permutation(spatial + 2)), list(range(spatial + 2))][rng.integers(3)]
    x = ad.from_numpy(
        rng.normal(size=[shape[d] for d in order]) * rng.choice([3, 1e6, 1e15] if dtype == "int64" else [3])
    ).permute(*np.argsort(order).tolist())
    x = x if dtype in REAL else x.abs() % (1e18 if dtype == "int64" else 200)
    x = x.to(getattr(ad, dtype))
    return x if rng.random() < 0.7 else x[..., 1:] if x.shape[-1] > 1 else x[:, 1:] if x.shape[1] > 1 else x


def attempt(name: str, call: Any, tolerance: float) -> None:
    try:
        call()
    except (RuntimeError, NotImplementedError):  # a type, or windows of padding alone
        return
    check(name, call, tolerance)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_pools_in_any_order(spatial: int, dtype: str) -> None:
    rng = np.random.default_rng(spatial)
    for _ in range(12):
        x = planes(rng, dtype, spatial)
        kernel, step = ([int(n) for n in rng.integers(1, 4, spatial)] for _ in range(2))
        window = (kernel, step, [k // 2 for k in kernel])
        parts = [int(rng.integers(1, n + 2)) for n in x.shape[2:]]
        max_pool, avg_pool = getattr(F, f"max_pool{spatial}d"), getattr(F, f"avg_pool{spatial}d")
        size = 1 + float(x.to(ad.float64).abs().max())
        tolerance = TOLERANCE.get(dtype, 0) * size
        ceil = bool(rng.integers(2))
        attempt("max_pool", lambda: max_pool(x, *window, ceil_mode=ceil), 0)  # noqa: B023
        attempt("max_pool", lambda: max_pool(x, *window, ceil_mode=ceil, return_indices=True), 0)  # noqa: B023
        attempt("avg_pool", lambda: avg_pool(x, *window, ceil), tolerance)  # noqa: B023
        attempt("max_pool", lambda: getattr(F, f"adaptive_max_pool{spatial}d")(x, parts, True), 0)  # noqa: B023
        attempt("avg_pool", lambda: getattr(F, f"adaptive_avg_pool{spatial}d")(x, parts), tolerance)  # noqa: B023


def test_whole_numbers_that_floats_would_round() -> None:
    x = ad.tensor([[2**24 + 1, 2**24, -(2**53) - 1, -(2**53), 2**62 + 1, 2**62]])
    assert F.max_pool1d(x, 2).tolist() == [[2**24 + 1, -(2**53), 2**62 + 1]]
    assert F.avg_pool1d(x[:, :2], 2).tolist() == [[2**24]]
    assert F.avg_pool1d(-x[:, :2], 2).tolist() == [[-(2**24)]]
