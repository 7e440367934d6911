"""Kernels by element type, and rows of a few elements: at sizes where they are taken side by side, beside NumPy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.nn import functional as F

RANDOM = np.random.default_rng(0)
SHAPES = [(1000, 4), (4, 1000), (70, 3, 5), (129, 16), (2, 300, 3), (640, 1)]
LAYOUTS: dict[str, Callable[[ad.Tensor], ad.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.mT.contiguous().mT,
    "apart": lambda x: ad.cat([x, x], -1)[..., : x.size(-1)],
    "expanded": lambda x: x[:1].expand(x.shape),
}


def drawn(shape: tuple[int, ...], dtype: str) -> ad.Tensor:
    x = RANDOM.uniform(-2, 2, shape)
    if dtype == "complex64":
        return ad.from_numpy((x + 1j * RANDOM.uniform(-2, 2, shape)).astype(dtype))
    if dtype == "int64":
        return ad.from_numpy(np.ceil(x * 3).astype(dtype))
    return ad.from_numpy(x.astype("float32")).to(getattr(ad, dtype))


def wide(x: ad.Tensor) -> Any:
    return x.to(ad.float64).numpy() if x.is_floating_point() else x.numpy()


REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[str, ...]]] = {
    "sum": (lambda x, d: x.sum(d), lambda x, d: x.sum(d), ("float32", "bfloat16", "float16", "int64", "complex64")),
    "prod": (lambda x, d: x.prod(d), lambda x, d: x.prod(d), ("float32", "bfloat16", "int64", "complex64")),
    "amax": (lambda x, d: x.amax(d), lambda x, d: x.max(d), ("float32", "bfloat16", "int64")),
    "argmin": (lambda x, d: x.argmin(d), lambda x, d: x.argmin(d), ("float32", "bfloat16", "int64")),
    "max": (lambda x, d: x.max(d).values, lambda x, d: x.max(d), ("float32", "float16", "int64")),
    "var": (lambda x, d: x.var(d, correction=0), lambda x, d: x.var(d), ("float32", "bfloat16")),
    "logsumexp": (lambda x, d: x.logsumexp(d), lambda x, d: np.log(np.exp(x).sum(d)), ("float32", "bfloat16", "float64")),
    "norm": (lambda x, d: x.norm(2, d), lambda x, d: np.sqrt((abs(x) ** 2).sum(d)), ("float32", "bfloat16", "complex64")),
    "cumsum": (lambda x, d: x.cumsum(d), lambda x, d: x.cumsum(d), ("float32", "bfloat16", "int64", "complex64")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_along_each_dimension(name: str, shape: tuple[int, ...], layout: str) -> None:
    ours, theirs, types = REDUCTIONS[name]
    for dtype in types:
        x = LAYOUTS[layout](drawn(shape, dtype))
        for d in range(len(shape)):
            if name == "prod" and shape[d] > 20:
                continue  # leaves the range of the type
            found, wanted = wide(ours(x, d)), theirs(wide(x), d)
            loose = {"bfloat16": 2e-2, "float16": 3e-3}.get(dtype, 1e-4)
            np.testing.assert_allclose(found, wanted, rtol=loose, atol=loose * (30 if name == "cumsum" else 5))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_everything_at_once(shape: tuple[int, ...], layout: str) -> None:
    x = LAYOUTS[layout](drawn(shape, "float32"))
    np.testing.assert_allclose(float(x.sum()), wide(x).sum(), rtol=1e-4, atol=1e-3)
    assert float(x.amax()) == wide(x).max() and float(x.amin()) == wide(x).min()


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_copies(shape: tuple[int, ...], layout: str, dtype: str) -> None:
    x = LAYOUTS[layout](drawn(shape, "float32").to(getattr(ad, dtype)))
    a = x.to(ad.complex128).numpy()
    for d in range(len(shape)):
        moved = x.movedim(d, 0)
        assert np.array_equal(moved.contiguous().to(ad.complex128).numpy(), np.moveaxis(a, d, 0))
        assert np.array_equal(x.flip(d).to(ad.complex128).numpy(), np.flip(a, d))
        assert np.array_equal(ad.cat([x, x], d).to(ad.complex128).numpy(), np.concatenate([a, a], d))
        assert np.array_equal(ad.roll(x, 1, d).to(ad.complex128).numpy(), np.roll(a, 1, d))
    assert np.array_equal(x.flip(0, -1).to(ad.complex128).numpy(), np.flip(a, (0, -1)))


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "complex128"])
def test_planes_of_a_few_elements(dtype: str) -> None:
    x = drawn((50, 2, 3, 4), "float32").to(getattr(ad, dtype))
    for order in itertools.permutations(range(4)):
        assert np.array_equal(x.permute(order).contiguous().numpy(), x.numpy().transpose(order))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("layout", ["channels last", "transposed", "apart", "expanded"])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_images_in_other_sizes_from_where_they_lie(mode: str, layout: str, dtype: str) -> None:
    x = drawn((3, 4, 13, 11), "float32").to(getattr(ad, dtype))
    x = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2) if layout == "channels last" else LAYOUTS[layout](x)
    for size in ((3, 5), (13, 2), (1, 11), (20, 30), (2, 30)):
        found, wanted = (F.interpolate(t, size, mode=mode) for t in (x, x.contiguous()))
        assert ad.equal(found, wanted)
        one, same = (F.interpolate(t, size[1], mode="linear") for t in (x[:, :, 0], x[:, :, 0].contiguous()))
        assert ad.equal(one, same)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_products_of_integers(dtype: str) -> None:
    a, b = (ad.from_numpy(RANDOM.integers(-90, 90, s)).to(getattr(ad, dtype)) for s in ((37, 153), (153, 41)))
    wanted = (a.numpy().astype("int64") @ b.numpy().astype("int64")).astype(dtype)
    across = [x.mT.contiguous().mT for x in (a, b)]
    for left in (a, across[0]):
        assert np.array_equal((left @ b[:, 3]).numpy(), wanted[:, 3])
        for right in (b, across[1]):
            assert np.array_equal((left @ right).numpy(), wanted)
            assert np.array_equal((left[5] @ right).numpy(), wanted[5])


@pytest.mark.parametrize(
    "other", ["bool", "uint8", "int16", "int64", "bfloat16", "float16", "float32", "float64", "complex128"]
)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_conversions_of_complex_numbers(other: str) -> None:
    x = drawn((700,), "complex64")
    x[::3] = 0
    x[1::3] = 1j
    there = x.to(getattr(ad, other))
    if other == "bool":
        assert np.array_equal(there.numpy(), x.numpy() != 0)
    elif other == "complex128":
        assert np.array_equal(there.numpy(), x.numpy().astype(other))
    else:
        assert np.array_equal(wide(there), wide(x.real.contiguous().to(there.dtype)))
    back = there.to(ad.complex64)
    assert np.array_equal(back.real.numpy(), wide(there.real).astype("float32"))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "bfloat16", "float16", "float32", "float64", "complex64"])
def test_truth(dtype: str) -> None:
    x = drawn((700,), "int64").clamp(0, 3).to(getattr(ad, dtype))
    if dtype not in ("uint8", "int16", "int64"):
        x[::2] *= -1  # zeros with a sign are false
    y = x.roll(1)
    a, b = x.to(ad.complex64).numpy() != 0, y.to(ad.complex64).numpy() != 0
    assert np.array_equal(ad.logical_not(x).numpy(), ~a)
    assert np.array_equal(ad.logical_and(x, y).numpy(), a & b)
    assert np.array_equal(ad.logical_or(x, y).numpy(), a | b)
    assert np.array_equal(ad.logical_xor(x, y).numpy(), a ^ b)


def test_remainders_of_doubles_are_exact() -> None:
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 2.3e-308, 1e308, 1 / 3, 2.0**52, 2.0**53 + 2]
    a, b = (RANDOM.standard_normal(5000) * np.exp(RANDOM.uniform(-20, 20, 5000)) for _ in range(2))
    a, b = np.concatenate([a, np.repeat(special, len(special))]), np.concatenate([b, np.tile(special, len(special))])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.fmod(ad.from_numpy(a), ad.from_numpy(b)).numpy(), np.fmod(a, b))
        np.testing.assert_array_equal(ad.remainder(ad.from_numpy(a), ad.from_numpy(b)).numpy(), np.remainder(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cubes(dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e200, -1e103, 1e-110, 3.0, -0.1]).astype(dtype)
        wanted = (x.astype("longdouble") ** 3).astype(dtype)
    found = (ad.from_numpy(x) ** 3).numpy()
    np.testing.assert_array_equal(found, wanted)
    assert np.array_equal(np.signbit(found[:2]), [False, True])


def test_halves_by_their_bits() -> None:
    x = ad.tensor([np.nan, np.inf, -np.inf, -0.5, 0.5, 1.5, 2.5, -0.0, 300.0, 3e38, 1e-40])
    for dtype in (ad.bfloat16, ad.float16):
        h = x.to(dtype)
        a = wide(h)
        for name in ("floor", "ceil", "trunc", "abs", "negative"):
            np.testing.assert_array_equal(wide(getattr(ad, name)(h)), getattr(np, name)(a))
        np.testing.assert_array_equal(wide(h.round()), np.round(a))
        np.testing.assert_array_equal(wide(h.copysign(-h)), np.copysign(a, -a))


def test_distances_in_several_parts() -> None:
    x, y = (ad.from_numpy(RANDOM.uniform(-1, 1, (200, 90))).requires_grad_() for _ in range(2))  # 3.6 million differences
    found, wanted = ad.cdist(x, y, 3.0), (x.unsqueeze(1) - y).abs().pow(3).sum(-1).pow(1 / 3)
    v = ad.from_numpy(RANDOM.uniform(-1, 1, (200, 200)))
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-12)
    for ours, theirs in zip(ad.autograd.grad(found, (x, y), v), ad.autograd.grad(wanted, (x, y), v), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-12)
    through = ad.func.grad(lambda a: (ad.cdist(a, y.detach(), 3.0) * v).sum())(x.detach())
    np.testing.assert_allclose(through.numpy(), ad.autograd.grad(ad.cdist(x, y, 3.0), x, v)[0].numpy(), rtol=1e-9, atol=1e-12)


def test_distances_of_order_zero_keep_nan() -> None:
    x = ad.tensor([[1.0, 2.0], [float("nan"), 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(ad.cdist(x, ad.tensor([[1.0, 3.0]]), p=0).numpy(), [[1], [np.nan], [0]])
    np.testing.assert_array_equal(ad.nn.functional.pdist(x, p=0).numpy(), [np.nan, 1, np.nan])


@pytest.mark.parametrize("n, m, d", [(3, 40, 300), (70, 5, 3), (130, 260, 17), (1, 1, 1), (9, 33, 1), (40, 30, 64)])
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
def test_rows_with_nan_and_infinity_are_far_alone(p: float, n: int, m: int, d: int) -> None:
    for dtype, loose in ((np.float32, 1e-5), (np.float64, 1e-12)):
        a, b = (RANDOM.uniform(-2, 2, s).round(1).astype(dtype) for s in ((2, n, d), (2, m, d)))
        a[0, n // 2, d // 2], a[1, 0, 0], b[1, m // 2, -1] = np.nan, np.inf, -np.inf
        for mode in ("use_mm_for_euclid_dist_if_necessary", "donot_use_mm_for_euclid_dist"):
            found = ad.cdist(ad.from_numpy(a), ad.from_numpy(b), p, mode).numpy()
            apart = np.abs(a[:, :, None] - b[:, None])
            parts = np.where(np.isnan(apart), apart, apart != 0) if p == 0 else apart**p
            wanted = parts.sum(-1) ** (1 / (p or 1))
            finite = np.isfinite(wanted)
            assert not np.isfinite(found[~finite]).any()
            np.testing.assert_allclose(found[finite], wanted[finite], rtol=loose, atol=loose * 100 * d**0.5)


@pytest.mark.parametrize("layout", ["transposed", "apart", "expanded"])
def test_elements_taken_from_where_they_lie(layout: str) -> None:
    x = LAYOUTS[layout](drawn((12, 9, 20), "float32")).detach().requires_grad_()
    at = ad.from_numpy(RANDOM.integers(-x.numel(), x.numel(), (5, 7)))
    found, wanted = x.take(at), x.contiguous().take(at)
    assert ad.equal(found, wanted)
    v = drawn((5, 7), "float32")
    ad.testing.assert_close(ad.autograd.grad(found, x, v)[0], ad.autograd.grad(wanted, x, v)[0])
    for outside in (x.numel(), -x.numel() - 1):
        with pytest.raises(IndexError, match=f"{outside} is out of bounds"):
            x.take(ad.tensor([outside]))


@pytest.mark.parametrize("far", [1e5, 1e9, 1e15])
def test_one_row_far_away_costs_the_others_no_digits(far: float) -> None:
    a = ad.from_numpy(RANDOM.normal(size=(60, 40)).astype("float32"))
    b = a.clone()
    b[3] = far
    x, y = a.clone().requires_grad_(), a.double().requires_grad_()
    found, wanted = ad.cdist(x, b), ad.cdist(y, b.double())
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-5, atol=5e-3)
    v = ad.from_numpy(RANDOM.normal(size=(60, 60)).astype("float32"))
    v.fill_diagonal_(0)
    ours, theirs = ad.autograd.grad(found, x, v)[0], ad.autograd.grad(wanted, y, v.double())[0]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-4)


def test_gradients_of_distances_to_no_rows() -> None:
    x, y = ad.ones(30, 20, requires_grad=True), ad.ones(0, 20, requires_grad=True)
    for a, b in ((x, y), (y, x)):
        for found in ad.autograd.grad(ad.cdist(a, b).sum(), (a, b)):
            assert not found.any()


def test_distances_refuse_what_they_do_not_know() -> None:
    x = ad.ones(3, 2)
    with pytest.raises(ValueError, match="compute_mode"):
        ad.cdist(x, x, compute_mode="donot_use_mm")
    with pytest.raises(RuntimeError, match="non-negative p"):
        ad.cdist(x, x, p=float("nan"))


@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize("shape", [(5000, 3), (2, 1100, 4), (7, 300, 17), (40, 3, 6), (9, 2, 15), (3, 70, 600), (33, 5, 31)])
def test_gradients_of_softmax_along_a_dimension_inside(shape: tuple[int, ...], logarithm: bool) -> None:
    d = len(shape) - 2
    for dtype, loose in ((np.float32, 1e-4), (np.float64, 1e-11)):
        x, v = (RANDOM.normal(size=shape).astype(dtype) for _ in range(2))
        t = ad.from_numpy(x).requires_grad_()
        found = ad.autograd.grad((ad.log_softmax if logarithm else ad.softmax)(t, d), t, ad.from_numpy(v))[0].numpy()
        p = np.exp(x - x.max(d, keepdims=True))
        p /= p.sum(d, keepdims=True)
        wanted = v - p * v.sum(d, keepdims=True) if logarithm else p * (v - (p * v).sum(d, keepdims=True))
        np.testing.assert_allclose(found, wanted, rtol=loose, atol=loose / 10)


def test_weights_of_a_sum_that_is_infinite() -> None:
    x = ad.tensor([1.0, math.inf, 2.0], requires_grad=True)
    ad.logsumexp(x, 0).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0, math.nan, 0])
    y = ad.full((3,), -math.inf, requires_grad=True)
    ad.logsumexp(y, 0).backward()
    assert y.grad.tolist() == [0, 0, 0]
