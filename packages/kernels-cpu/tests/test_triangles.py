"""Systems with triangles and LU factors, which go in panels, strips and blocks of their own: residuals at sizes around those."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint_core as ad
from adjoint_core import linalg

SIDES = st.one_of(st.integers(1, 40), st.sampled_from([79, 80, 81, 96, 159, 160, 161, 170, 200]))
COLUMNS = st.one_of(st.integers(1, 60), st.sampled_from([191, 192, 193, 200]))
DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128"])
LAYOUTS = {
    "rows": lambda x: x,
    "columns": lambda x: x.mT.contiguous().mT,
    "apart": lambda x: ad.stack((x, x), -1)[..., 0],
}


def numbers(rng: Any, shape: tuple[int, ...], dtype: str) -> Any:
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else x).astype(dtype)


def residual(a: Any, x: Any, b: Any) -> float:
    """|a x - b| beside |a| |x| + |b|, element by element, in units of rounding."""
    wide = "complex128" if np.iscomplexobj(a) else "float64"
    size = np.abs(a) @ np.abs(x) + np.abs(b)
    off = np.abs(a.astype(wide) @ x.astype(wide) - b) / np.where(size == 0, 1, size)
    return float(off.max(initial=0)) / np.finfo(a.dtype).eps


@settings(max_examples=80, deadline=None)
@given(SIDES, COLUMNS, DTYPES, st.sampled_from(sorted(LAYOUTS)), st.tuples(*[st.booleans()] * 3), st.integers(0, 2**32))
def test_a_triangle(n: int, k: int, dtype: str, layout: str, flags: tuple[bool, bool, bool], seed: int) -> None:
    upper, left, unit = flags
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (n, n), dtype) / np.sqrt(n) / 2 + 2 * np.eye(n, dtype=dtype), numbers(rng, (n, k), dtype)
    lies = LAYOUTS[layout]
    right = lies(ad.from_numpy(b))
    x = linalg.solve_triangular(lies(ad.from_numpy(a)), right if left else right.mT, upper=upper, left=left, unitriangular=unit)
    t = np.triu(a) if upper else np.tril(a)
    if unit:
        np.fill_diagonal(t, 1)
    assert residual(t if left else t.T, (x if left else x.mT).numpy(), b) < 10 + n


@settings(max_examples=60, deadline=None)
@given(SIDES, SIDES, DTYPES, st.sampled_from(sorted(LAYOUTS)), st.integers(0, 2**32))
def test_factors(m: int, n: int, dtype: str, layout: str, seed: int) -> None:
    a = numbers(np.random.default_rng(seed), (m, n), dtype)
    p, lower, upper = (f.numpy() for f in linalg.lu(LAYOUTS[layout](ad.from_numpy(a))))
    assert np.abs(lower).max() <= np.sqrt(2) * (1 + 1e-6)  # |re| + |im| chooses the pivot
    assert residual(lower, upper, p.T @ a) < 10 + min(m, n)


@settings(max_examples=60, deadline=None)
@given(SIDES, COLUMNS, DTYPES, st.sampled_from(sorted(LAYOUTS)), st.integers(0, 2**32))
def test_a_system_and_its_adjoint(n: int, k: int, dtype: str, layout: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (n, n), dtype), numbers(rng, (n, k), dtype)
    lies = LAYOUTS[layout]
    t, right = lies(ad.from_numpy(a)), lies(ad.from_numpy(b))
    factors = linalg.lu_factor(t)
    bound = 40 + 4 * n
    assert residual(a, linalg.solve(t, right).numpy(), b) < bound
    assert residual(a, linalg.lu_solve(*factors, right).numpy(), b) < bound
    assert residual(a.conj().T, linalg.lu_solve(*factors, right, adjoint=True).numpy(), b) < bound


def test_the_first_of_the_largest_is_the_pivot_and_nan_is_no_zero() -> None:
    nan = float("nan")
    assert linalg.det(ad.tensor([[0.0, 1.0], [nan, 1.0]])).isnan()
    assert linalg.lu_factor(ad.tensor([[1.0, 2.0], [-1.0, 1.0]])).pivots.tolist() == [1, 2]
    a = ad.zeros(40, 40)
    a[7] = nan
    assert linalg.det(a).isnan() and linalg.inv_ex(ad.zeros(40, 40)).info == 1


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [3, 9, 40])
def test_complex_numbers_of_two_nans_are_no_harm(n: int, dtype: str) -> None:
    """Sums of different NaNs have the bits of either."""
    a = np.ones((n, n), dtype)
    other = np.array([0x7FC007A2], "uint32").view("float32")
    a.real, a.imag = other, np.nan
    a.imag[0], a.real[0] = other, np.nan
    assert ad.from_numpy(a).isnan().all()
    pivots = linalg.lu_factor_ex(ad.from_numpy(a)).pivots
    assert (pivots >= ad.arange(1, n + 1)).all() and (pivots <= n).all()


@pytest.mark.parametrize("dtype, size", [("complex64", 1e-39), ("complex128", 1e-310), ("float32", 1e-39)])
def test_pivots_below_the_normal_numbers(dtype: str, size: float) -> None:
    a = numbers(np.random.default_rng(0), (20, 20), dtype) * np.array(size, dtype)
    x = linalg.solve(ad.from_numpy(a), ad.from_numpy(a @ np.ones((20, 1), dtype))).numpy()
    assert np.abs(x - 1).max() < 1e-2


def test_results_that_matter_are_not_lost() -> None:
    """Numbers below the normal ones stay where a triangle makes them large again, or the solution is as small."""
    a, b = ad.eye(40), ad.zeros(40, 1)
    a[1, 0], a[2, 1], a[3, 2], b[0, 0] = -1e-20, -1e-20, -1e38, 1
    assert linalg.solve_triangular(a, b, upper=False)[3].item() == pytest.approx(1e-2, rel=1e-4)
    assert linalg.solve_triangular(a.T, b.flip(0), upper=True).isfinite().all()
    small = linalg.solve_triangular(ad.eye(40) * 4e37, ad.full((40, 1), 0.1), upper=False)
    assert small.tolist() == pytest.approx(np.full((40, 1), 2.5e-39), rel=1e-4)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [3, 60])
def test_a_bad_block_among_good_ones(k: int, upper: bool) -> None:
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (400, 400), "float32") / 40 + 2 * np.eye(400, dtype="float32"), numbers(rng, (400, k), "float32")
    a[200, 200], b[200] = 1e-40, 0
    a[200, :200] = a[200, 201:] = 0
    x = linalg.solve_triangular(ad.from_numpy(a), ad.from_numpy(b), upper=upper).numpy()
    assert residual(np.triu(a) if upper else np.tril(a), x, b) < 500


@pytest.mark.parametrize("size", [1e-41, 1e-39, 3e38])
def test_a_diagonal_without_good_reciprocals_is_divided_by(size: float) -> None:
    a = np.eye(40, dtype="float32") * np.float32(size)
    b = np.full((40, 8), np.float32(size) / 2, "float32")
    x = linalg.solve_triangular(ad.from_numpy(a), ad.from_numpy(b), upper=True).numpy()
    np.testing.assert_allclose(x, b.astype("float64") / np.float32(size).astype("float64"), rtol=1e-6)


def test_columns_of_tiny_numbers_stay() -> None:
    """What is below the normal numbers counts as 0 only beside numbers far above it in the same column."""
    n = 64
    a, b = 2 * np.eye(n, dtype="float32"), np.ones((n, 5), "float32")
    b[:, 3] = 1e-40
    x = linalg.solve_triangular(ad.from_numpy(a), ad.from_numpy(b), upper=False).numpy()
    np.testing.assert_array_equal(x, b / 2)


def test_what_is_not_finite_stays_in_its_column() -> None:
    rng = np.random.default_rng(0)
    a, b = (
        rng.standard_normal((200, 200)).astype("float32") / 30 + np.eye(200, dtype="float32"),
        np.ones((200, 60), "float32"),
    )
    plain = linalg.solve_triangular(ad.from_numpy(a), ad.from_numpy(b), upper=False).numpy()
    b[10, 4] = np.inf
    x = linalg.solve_triangular(ad.from_numpy(a), ad.from_numpy(b), upper=False).numpy()
    other = np.arange(60) != 4
    np.testing.assert_array_equal(x[:, other], plain[:, other])
    np.testing.assert_array_equal(x[:10], plain[:10])
    assert np.isinf(x[10, 4])


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_bits_do_not_depend_on_the_threads(dtype: str) -> None:
    rng = np.random.default_rng(1)
    square = numbers(rng, (300, 300), dtype) / 30 + np.eye(300, dtype=dtype)
    a, b = ad.from_numpy(square), ad.from_numpy(numbers(rng, (300, 500), dtype))
    before, found = ad.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            ad.set_num_threads(threads)
            found.append([linalg.solve(a, b), linalg.solve_triangular(a, b, upper=True), linalg.inv(a)])
    finally:
        ad.set_num_threads(before)
    for one, *others in zip(*found, strict=True):
        assert all((one == other).all() for other in others)
