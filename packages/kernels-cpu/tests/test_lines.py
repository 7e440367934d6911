"""Kernels along dimensions: scans, positions, sorting, indexing, pooling, and reductions of other types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from kernel_checks import DTYPES, REAL, TOLERANCE, check, integers, random

import adjoint as ad

F = ad.nn.functional
NAN = float("nan")
LINES = [
    ((70000,), 0),
    ((300000,), 0),
    ((300, 40), 0),
    ((300, 40), 1),
    ((7, 11, 13), 1),
    ((3, 2000, 33), 1),
    ((5, 1), 1),
    ((1, 5), 0),
    ((600, 1030), 1),
    ((70, 3), 1),
    ((1, 5), 1),
    ((2100, 2), 1),
    ((100, 32), 1),
    ((33, 64), 1),
]


def values(shape: tuple[int, ...], dtype: str) -> Any:
    return random(shape, dtype) if dtype in DTYPES else integers(shape, 0, 200).to(getattr(ad, dtype))


@pytest.mark.parametrize("dtype", [*REAL, "int64", "uint8"])
@pytest.mark.parametrize(("shape", "dim"), LINES)
def test_scans(shape: tuple[int, ...], dim: int, dtype: str) -> None:
    x = values(shape, dtype)
    check("cumsum", lambda: ad.cumsum(x, dim), 10 * TOLERANCE.get(dtype, 0))
    check(
        "cumsum",
        lambda: ad.cumsum(x.transpose(0, -1), dim - x.dim() + 1 if dim == x.dim() - 1 else dim),
        10 * TOLERANCE.get(dtype, 0),
    )
    near_one = random(shape, dtype, 0.99, 1.01) if dtype in REAL else x % 2
    check("cumprod", lambda: ad.cumprod(near_one, dim), TOLERANCE.get(dtype, 0))


@pytest.mark.parametrize("dtype", [*REAL, "int32", "int64", "uint8"])
@pytest.mark.parametrize(("shape", "dim"), LINES)
def test_positions_of_extremes(shape: tuple[int, ...], dim: int, dtype: str) -> None:
    x = values(shape, dtype)
    cases = [x, x.transpose(0, -1).contiguous().transpose(0, -1)]
    if dtype in REAL:
        holes = x.clone()
        holes[tuple(n // 2 for n in shape)] = NAN
        holes[tuple(n - 1 for n in shape)] = NAN
        cases.append(holes)
    for case in cases:
        for name in ("argmax", "argmin", "max", "min"):
            check(name, lambda f=getattr(ad, name), t=case: f(t, dim), 0)


@pytest.mark.parametrize("dtype", [*REAL, "int32", "int64", "uint8"])
@pytest.mark.parametrize(("shape", "dim"), LINES)
def test_sort(shape: tuple[int, ...], dim: int, dtype: str) -> None:
    x = values(shape, dtype)
    if dtype in REAL:
        x = x.clone()
        x[tuple(n // 2 for n in shape)] = NAN
        x[(0,) * len(shape)] = -0.0
    for down in (False, True):
        check("sort", lambda d=down: ad.sort(x, dim, d), 0)
        k = min(shape[dim], 20)
        check("topk", lambda d=down: ad.topk(x, k, dim, d), 0)


@pytest.mark.parametrize("dtype", [*DTYPES, "int64", "bool"])
def test_indexing(dtype: str) -> None:
    for shape, dim, m in [
        ((50,), 0, 400),
        ((50, 60), 0, 33),
        ((50, 60), 1, 700),
        ((3, 40, 70), 1, 90),
        ((2, 3000, 5), 1, 40),
        ((3, 700), 1, 40000),
        ((40, 500), 1, 1),
        ((2, 70000), 1, 300),
        ((40, 256), 0, 60),
        ((5000, 10), 0, 4000),
    ]:
        x, at = values(shape, dtype), integers((m,), 0, shape[dim])
        sizes = (*shape[:dim], m, *shape[dim + 1 :])
        each = integers(sizes, 0, shape[dim], 1)
        source = values(sizes, dtype)
        loose = 10 * TOLERANCE.get(dtype, 0)
        check("index_select", lambda: ad.index_select(x, dim, at), 0)
        check("gather", lambda: ad.gather(x, dim, each), 0)
        check("gather", lambda: ad.gather(x.transpose(0, -1).contiguous().transpose(0, -1), dim, each), 0)
        check("scatter", lambda: ad.scatter(x, dim, each, source), 0)
        check("index_copy", lambda: ad.index_copy(x, dim, at, source), 0)
        check("index", lambda: x[(slice(None),) * dim + (at - shape[dim],)], 0)
        if dtype != "bool":
            check("scatter_add", lambda: ad.scatter_add(x, dim, each, source), loose)
            check("index_add", lambda: ad.index_add(x, dim, at, source), loose)
            if dim == 0:
                check("index_put", lambda: ad.index_put(x, (at,), source, True), loose)


def test_positions_out_of_range() -> None:
    x = random((5, 6), "float32")
    for bad in (-1, 5):
        with pytest.raises(IndexError):
            ad.index_select(x, 0, integers((3,), bad, bad + 1))
    for bad in (-6, 5):
        with pytest.raises(IndexError):
            x[integers((3,), bad, bad + 1)]


@pytest.mark.parametrize("shape", [(4, 6), (4, 1), (3, 70000)])
def test_positions_out_of_range_in_lines(shape: tuple[int, int]) -> None:
    x, each = random(shape, "float32"), integers(shape, 0, shape[1])
    before = x.numpy().copy()
    for bad in (-1, shape[1]):
        each[shape[0] - 1, shape[1] - 1] = bad
        for call in (
            lambda: ad.gather(x, 1, each),
            lambda: ad.scatter(x, 1, each, x),
            lambda: ad.scatter_add(x, 1, each, x),
            lambda: x.scatter_(1, each, x + 1),
            lambda: x.scatter_add_(1, each, x + 1),
        ):
            with pytest.raises(IndexError):
                call()
    np.testing.assert_array_equal(x.numpy(), before)


@pytest.mark.parametrize("shape", [(40, 500), (2, 70000)])
def test_scatter_in_place_and_from_strided_memory(shape: tuple[int, int]) -> None:
    x, v, each = random(shape, "float32"), random(shape, "float32", seed=1), integers(shape, 0, shape[1])
    turned = x.t().contiguous().t()
    for name in ("scatter", "scatter_add"):
        expected = getattr(ad, name)(x, 1, each, v).numpy()
        np.testing.assert_array_equal(getattr(ad, name)(turned, 1, each, v).numpy(), expected)
        np.testing.assert_array_equal(getattr(x.clone(), name + "_")(1, each, v).numpy(), expected)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "extra"),
    [
        (2, 2, 0, {}),
        (3, 2, 1, {}),
        (3, 1, 1, {}),
        ((3, 2), (3, 1), (1, 0), {}),
        (2, 3, 1, {"ceil_mode": True}),
        (3, 2, 1, {"ceil_mode": True}),
    ],
)
@pytest.mark.parametrize("shape", [(2, 3, 25, 34), (7, 10, 8, 7)], ids=["large", "small"])
def test_pooling(shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, extra: dict[str, bool], dtype: str) -> None:
    x = random(shape, dtype).clone()
    x[0, 0, 3, 4] = NAN
    x[1, 2, :9] = -float("inf")
    check("max_pool", lambda: F.max_pool2d(x, kernel, stride, padding, return_indices=True, **extra), 0)
    y = random(shape, dtype)
    for counts in (True, False):
        call = lambda c=counts: F.avg_pool2d(y, kernel, stride, padding, count_include_pad=c, **extra)  # noqa: E731
        check("avg_pool", call, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "int64", "int32", "uint8", "bool"])
def test_reductions_of_other_types(dtype: str) -> None:
    for shape, dims in [
        ((70001,), (0,)),
        ((300, 40), (0,)),
        ((300, 40), (1,)),
        ((7, 11, 13), (0, 2)),
        ((3, 2000, 33), (1,)),
        ((2, 3, 70000), (0, 2)),
    ]:
        x = values(shape, dtype)
        check("sum", lambda: ad.sum(x, dims), TOLERANCE.get(dtype, 0) * 20)
        for name in () if dtype.startswith("complex") else ("amax", "amin", "any", "all"):
            check(name, lambda f=getattr(ad, name): f(x, dims), 0)
        if dtype.startswith("complex"):
            check("mean", lambda: ad.mean(x, dims), TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", REAL)
def test_norms(dtype: str) -> None:
    for shape, dims in [((70001,), (0,)), ((300, 40), (0,)), ((300, 40), (1,)), ((7, 11, 13), (0, 2))]:
        for scale in (1.0, 0.0) if dtype.endswith("16") else (1.0, 0.0, 1e-30, 1e30):
            x = random(shape, dtype) * scale
            for p in (0, 1.0, 2.0, 3.0, np.inf, -np.inf):
                check("vector_norm", lambda p=p: ad.linalg.vector_norm(x, p, dims), 20 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(8, 5, 9, 11), (200, 70), (3000, 4), (4, 3, 40000), (2, 3, 4, 5, 6), (5, 33, 1)])
def test_batch_norm(shape: tuple[int, ...], dtype: str) -> None:
    x, w = random(shape, dtype), random((shape[1],), dtype)
    check("batch_norm", lambda: F.batch_norm(x, None, None, w, w, True), 10 * TOLERANCE[dtype])
    check("batch_norm", lambda: F.batch_norm(x, None, None, None, None, True), 10 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", REAL)
def test_layer_norm(dtype: str) -> None:
    for shape, n in [((8, 700), 700), ((300, 3), 3), ((4, 5, 60), 60)]:
        x, w = random(shape, dtype), random((n,), dtype)
        check("layer_norm", lambda: F.layer_norm(x, (n,), w, w), 10 * TOLERANCE[dtype])
        check("rms_norm", lambda: F.rms_norm(x, (n,), w), 10 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [*REAL, "int32", "int64"])
def test_clamp(dtype: str) -> None:
    x, low, high = values((40, 700), dtype), values((700,), dtype), values((40, 1), dtype)
    if dtype in REAL:
        x, low = x.clone(), low.clone()
        x[3, 4] = low[50] = NAN
    check("clamp", lambda: ad.clamp(x, low, high), 0)
    check("clamp", lambda: ad.clamp(x, 1, 2), 0)


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 5, 12, 32), (6, 5, 3, 3), {"padding": 1}),
    ((1, 4, 19, 23), (8, 4, 3, 5), {"padding": (0, 2), "stride": (2, 1)}),
    ((3, 8, 11, 17), (12, 4, 3, 3), {"groups": 2, "padding": 2, "dilation": 2}),
    ((2, 3, 20, 20), (4, 3, 3, 3), {"stride": 2}),
    ((9, 4, 8, 8), (5, 4, 1, 1), {}),
    ((70, 6, 4, 3), (10, 3, 4, 3), {"groups": 2}),  # filters as large as the image
    ((7, 3, 7, 6), (4, 3, 4, 4), {}),  # a small result, whose image is many times as large
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("image", "kernel", "extra"), CONVOLUTIONS)
def test_convolution(image: tuple[int, ...], kernel: tuple[int, ...], extra: dict[str, Any], dtype: str) -> None:
    x, w = random(image, dtype), random(kernel, dtype, seed=1)
    check("conv", lambda: F.conv2d(x, w, **extra), 100 * TOLERANCE[dtype])
    if dtype != "bfloat16":
        x, w = x.requires_grad_(), w.requires_grad_()
        for name in ("conv_input_vjp", "conv_weight_vjp"):
            check(name, lambda: ad.autograd.grad(F.conv2d(x, w, **extra).abs().sum(), [x, w]), 300 * TOLERANCE[dtype])


@pytest.mark.parametrize("shape", [(5,), (3, 40_000), (700, 3), (600, 1500), (4, 300, 33), (2, 9, 7, 6)])
def test_counts_of_what_is_true(shape: tuple[int, ...]) -> None:
    x = integers(shape, 0, 4) > 0
    for mask in (x, x.transpose(0, -1), x[..., ::2], x[:1].expand(shape)):
        for dim in (None, *range(len(shape)), (0, -1) if len(shape) > 1 else 0):
            check("sum", lambda: mask.sum(dim), 0)


@pytest.mark.parametrize("n", [1, 7, 24, 25, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_places_among_few_and_many(n: int, dtype: str) -> None:
    at, values = (
        integers((3, n), -9, 9).to(getattr(ad, dtype)).sort(-1).values,
        integers((3, 200), -11, 11).to(getattr(ad, dtype)),
    )
    if dtype != "int64":
        at[0, -1] = at[1, -2:] = values[:, 3] = NAN
        values[1, 7], values[1, 8] = math.inf, -math.inf
    for right in (False, True):
        check("searchsorted", lambda: ad.searchsorted(at, values, right=right), 0)
