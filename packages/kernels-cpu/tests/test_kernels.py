"""Every kernel against core's reference kernel, and against itself on other numbers of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from kernel_checks import DTYPES, REAL, TOLERANCE, as_numpy, check, integers, random

import adjoint_core as ad
from adjoint_kernels_cpu import _kernels

UNARY = "abs acos asin atan asinh cos cosh erf erfc exp exp2 expm1 log1p neg reciprocal round sgn sin sinh sqrt square tan tanh sigmoid isnan".split()
COMPLEX_UNARY = "abs cos cosh exp neg reciprocal sgn sin sinh square tanh sigmoid isnan conj".split()
BINARY = "add sub mul div maximum minimum atan2 hypot eq lt ge fmod remainder floor_divide copysign".split()
COMPLEX_BINARY = "add sub mul div eq".split()
SIZES = [0, 1, 511, 513, 4097, 32769]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_unary(size: int, dtype: str) -> None:
    names = COMPLEX_UNARY if dtype.startswith("complex") else UNARY
    x = random((size,), dtype, 0.01, 0.99)
    for name in names:
        check(name, lambda f=getattr(ad, name): f(x), TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["sin", "polygamma", "bitwise_not"])
def test_loops_of_core_run_on_all_threads(name: str) -> None:
    """One row, many rows, transposed: the bits of one thread."""
    call = {
        "sin": lambda x: ad.sin(x.to(ad.complex64)),
        "polygamma": lambda x: ad.polygamma(1, x),
        "bitwise_not": lambda x: ad.bitwise_not((x * 1000).to(ad.int16)),
    }[name]
    found = {}
    for threads in (1, 2, 3):
        _kernels.set_num_threads(threads)
        for x in (
            random((9001,), "float32", 0.5, 3),
            random((90, 101), "float32", 0.5, 3)[:, :100],
            random((90, 101), "float32", 0.5, 3).mT,
        ):
            y = call(x)
            found.setdefault(tuple(x.shape), as_numpy(y).tobytes())
            assert as_numpy(y).tobytes() == found[tuple(x.shape)], f"{name}: other bits on {threads} threads"


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_angles(name: str) -> None:
    x = random((3000,), "float32", -1e3, 1e3)
    x[700] = 1e10
    check(name, lambda: getattr(ad, name)(x), 1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_binary(size: int, dtype: str) -> None:
    names = COMPLEX_BINARY if dtype.startswith("complex") else BINARY
    a, b = random((size,), dtype, 0.5, 3), random((size,), dtype, 0.5, 3, seed=1)
    for name in names:
        check(name, lambda f=getattr(ad, name): f(a, b), TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16"])
@pytest.mark.parametrize("size", SIZES)
def test_narrow_integers_wrap_around(size: int, dtype: str) -> None:
    a, b = (integers((size,), -40_000, 40_000, seed).to(getattr(ad, dtype)) for seed in (0, 1))
    for name in "add mul eq ne lt le bitwise_and bitwise_xor".split() + ["sub"] * (dtype != "bool"):
        check(name, lambda f=getattr(ad, name): f(a, b), 0)


def layouts(dtype: str) -> list[tuple[Any, Any]]:
    a, b = random((60, 700), dtype), random((60, 700), dtype, seed=1)
    wide, tall = random((60, 1400), dtype), random((700, 60), dtype)
    return [
        (a, random((1,), dtype)),
        (a, random((60, 1), dtype)),
        (a, random((700,), dtype)),
        (random((60, 1), dtype), b[:1]),
        (wide[:, ::2], b),
        (tall.t(), b),
        (tall.t(), tall.t()),
        (a[3:, 5:], b[:-3, :-5]),
        *short_rows(dtype),
    ]


def short_rows(dtype: str) -> list[tuple[Any, Any]]:
    """Rows of which a tile holds many, and more of them than fill a last tile."""
    x, column, row = random((3000, 7), dtype), random((3000, 1), dtype), random((7,), dtype, seed=1)
    wide = random((3000, 19), dtype)
    return [
        (x, row),
        (x, column),
        (column, row),
        (wide[:, 3:10], x),
        (wide[:, 1::2], random((9,), dtype)),
        (random((40, 3, 9), dtype), random((3, 1), dtype)),
    ]


@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "int32", "int64", "bool"])
def test_layouts(dtype: str) -> None:
    for a, b in layouts(dtype):
        for name in ("add", "mul", "eq"):
            check(name, lambda f=getattr(ad, name): f(a, b), TOLERANCE.get(dtype, 0))
        check("contiguous", lambda: a.transpose(0, 1).contiguous(), 0)
        check("clone", lambda: b.clone(), 0)
        check("where", lambda: ad.where(a == b, a, b), 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_short_rows_in_place(dtype: str) -> None:
    wide, column = random((3000, 19), dtype), random((3000, 1), dtype, seed=1)
    for part in (slice(3, 10), slice(1, None, 2)):
        check("add", lambda p=part: wide.clone()[:, p].add_(column), TOLERANCE[dtype])


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("source", [*DTYPES, "bool", "uint8", "int32", "int64"])
def test_casts(source: str) -> None:
    x = random((40, 900), source, 0, 100)
    for target in [*DTYPES, "bool", "uint8", "int16", "int64"]:
        check("to_dtype", lambda t=target: x.to(getattr(ad, t)), 0)
        check("to_dtype", lambda t=target: x.t().to(getattr(ad, t)), 0)


@pytest.mark.parametrize("source", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("target", ["uint8", "int8", "int16", "int32"])
def test_casts_of_numbers_beyond_32_bits(source: str, target: str) -> None:
    """A vector of them becomes what each becomes alone."""
    many = [2.0**31, -(2.0**31), 3e9, 5e9, 1e30, math.inf, -math.inf, math.nan, *range(-700, 700)]
    x = ad.tensor(many, dtype=getattr(ad, source))
    found = x.to(getattr(ad, target))
    assert found.tolist() == [v.to(getattr(ad, target)).item() for v in x]
    assert found[8:].tolist() == x[8:].to(getattr(ad, target)).tolist()
    assert found[4:8].tolist() == [-(2**31) if target == "int32" else 0] * 4  # as PyTorch's on x86


SHAPES = [
    (1, 1, 1),
    (40, 33, 50),
    (3, 5, 4),
    (17, 9, 33),
    (64, 64, 64),
    (1, 50, 70),
    (70, 50, 1),
    (130, 150, 140),
    (300, 200, 20),
    (20, 300, 600),
    (257, 130, 129),  # one row or column more than whole panels
    (4, 0, 3),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_matmul(shape: tuple[int, int, int], dtype: str) -> None:
    m, k, n = shape
    a, b = random((m, k), dtype), random((k, n), dtype, seed=1)
    at, bt = random((k, m), dtype).t(), random((n, k), dtype, seed=1).t()
    strided = random((m, 2 * k), dtype)[:, ::2]
    for left, right in [(a, b), (at, b), (a, bt), (at, bt), (strided, b)]:
        check("matmul", lambda x=left, y=right: x @ y, 30 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "uint8"])
@pytest.mark.parametrize("shape", [*SHAPES, (65, 200, 129), (129, 64, 257), (513, 64, 64), (64, 64, 513)])
def test_matmul_of_integers(shape: tuple[int, int, int], dtype: str) -> None:
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 100, s).astype(dtype) for s in ((m, k), (k, n)))
    exact = (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype)
    for left in (ad.from_numpy(a), ad.from_numpy(np.ascontiguousarray(a.T)).t(), ad.from_numpy(np.repeat(a, 2, 1))[:, ::2]):
        for right in (
            ad.from_numpy(b),
            ad.from_numpy(np.ascontiguousarray(b.T)).t(),
            ad.from_numpy(np.repeat(b, 2, 1))[:, ::2],
        ):
            assert ((left @ right).numpy() == exact).all()


@pytest.mark.parametrize("shape", [(64, 60000, 64), (2, 200000, 2), (8, 13000, 8), (300, 3000, 300)])
def test_long_sums_of_products(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b = (rng.random(s).astype(np.float32) for s in ((m, k), (k, n)))
    exact = a.astype(np.float64) @ b
    for right in (ad.from_numpy(b), ad.from_numpy(np.ascontiguousarray(b.T)).t()):
        assert np.abs((ad.from_numpy(a) @ right).numpy() / exact - 1).max() < 3e-6


@pytest.mark.parametrize("dtype", DTYPES)
def test_batched_matmul(dtype: str) -> None:
    for left, right in [((6, 5, 7), (6, 7, 4)), ((3, 1, 5, 7), (4, 7, 9)), ((40, 15, 17), (1, 17, 8))]:
        a, b = random(left, dtype), random(right, dtype, seed=1)
        check("matmul", lambda: a @ b, 10 * TOLERANCE[dtype])


REDUCED = [
    ((70000,), (0,)),
    ((300, 40), (0,)),
    ((300, 40), (1,)),
    ((7, 11, 13), (0, 2)),
    ((3, 2000, 33), (1,)),
    ((3000, 3), (0,)),
    ((2, 3, 70000), (0, 2)),
    ((5, 1), (1,)),
]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("shape", "dims"), REDUCED)
def test_reductions(shape: tuple[int, ...], dims: tuple[int, ...], dtype: str) -> None:
    x = random(shape, dtype)
    for name in ("sum", "mean", "amax", "amin"):
        check(name, lambda f=getattr(ad, name): f(x, dims), 20 * TOLERANCE[dtype])
    several = x.numel() > x.amax(dims).numel()  # of one element the variance has no degree of freedom
    check("var", lambda: ad.var(x, dims, correction=int(several)), 20 * TOLERANCE[dtype])
    check("logsumexp", lambda: ad.logsumexp(x, dims), TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str, dtype: str) -> None:
    for shape, dim in [((5, 1000), 1), ((1000, 5), 0), ((3, 40, 600), 1), ((70, 3), 1)]:
        x = random(shape, dtype)
        check(name, lambda: getattr(ad, name)(x, dim), TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["amax", "amin", "sum"])
def test_nan_wins(name: str) -> None:
    for position in (0, 5, 2999, 4000):
        x = random((2, 4001), "float32")
        x[1, position] = float("nan")
        check(name, lambda: getattr(ad, name)(x, (1,)), 1e-3)


@pytest.mark.parametrize("size", [1, 15, 64, 129, 5000])
def test_extremes_beside_infinities(size: int) -> None:
    for values in ([], [np.inf], [-np.inf], [np.inf, -np.inf], [-np.nan, np.inf], [-np.inf] * size):
        x = np.linspace(-1, 1, size, dtype=np.float32)
        x[: len(values)] = values[:size]
        for reverse in (x, np.ascontiguousarray(x[::-1])):
            for name in ("amax", "amin"):
                got, wanted = getattr(ad, name)(ad.from_numpy(reverse), (0,)).item(), getattr(np, name)(reverse)
                assert got == wanted or (np.isnan(got) and np.isnan(wanted)), (name, values)


@pytest.mark.parametrize("size", [1, 7, 16, 65536])
def test_half_arithmetic_is_rounded_once(size: int) -> None:
    a = np.arange(65536, dtype=np.uint16).view(np.float16)[:size]
    b = np.roll(np.arange(65536, dtype=np.uint16), 12345).view(np.float16)[:size]
    with np.errstate(all="ignore"):
        for name, wanted in (("add", a + b), ("sub", a - b), ("mul", a * b), ("div", a / b)):
            got = getattr(ad, name)(ad.from_numpy(a.copy()), ad.from_numpy(b.copy())).numpy()
            np.testing.assert_array_equal(got, wanted)
            np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize(
    ("shape", "dims"), [((3, 70001), (1,)), ((70001,), (0,)), ((1003, 37), (0,)), ((11, 5), (0,)), ((9, 2050), (0, 1))]
)
def test_sums_of_halves(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(-8, 9, shape).astype(np.float16)
    x[(0,) * len(shape)] = 6e-8  # subnormal
    wanted = x.astype(np.float64).sum(dims).astype(np.float16)
    np.testing.assert_array_equal(ad.sum(ad.from_numpy(x), dims).numpy(), wanted)
    x[(-1,) * len(shape)] = np.inf
    np.testing.assert_array_equal(ad.sum(ad.from_numpy(x), dims).numpy(), x.astype(np.float64).sum(dims).astype(np.float16))


def test_use_reference_of_unknown_kernel() -> None:
    with pytest.raises(ValueError, match="no kernel named 'nothing'"):
        _kernels.use_reference("nothing", True)


@pytest.mark.parametrize("own", [(4, 3), (4, 1), (1, 3), (1, 1)])
@pytest.mark.parametrize("positions", [1, 5, 40])
def test_positions_that_several_lines_share(own: tuple[int, int], positions: int) -> None:
    x = random((4, 3, 33), "float32")
    at = integers((*own, positions), 0, 33).expand(4, 3, positions)
    check("gather", lambda: x.gather(2, at), 0)
    check("scatter_add", lambda: x.scatter_add(2, at, x[:, :, :1].expand(4, 3, positions)), 1e-5)
    check("gather", lambda: x.mT.contiguous().gather(1, at.mT), 0)
