"""The kernels of linear algebra against core's reference kernels, at sizes where LAPACK works in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kernel_checks import check, random

import adjoint_core as ad
from adjoint_core import linalg

DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCE = {"float32": 1e-3, "float64": 1e-10, "complex64": 1e-3, "complex128": 1e-10}
SHAPES = [(1, 1), (3, 3), (2, 5, 5), (0, 4, 4), (2, 0, 0), (40, 40), (130, 3, 3)]


def regular(shape: tuple[int, ...], dtype: str) -> Any:
    """Well conditioned, with well separated spectra."""
    n = shape[-1]
    shift = ad.arange(1, n + 1).to(ad.float64) * 7 * (-1) ** ad.arange(n)
    return random(shape, dtype) * 0.3 + shift.diag().to(getattr(ad, dtype))


def positive(a: Any) -> Any:
    return a @ a.mH + ad.eye(a.size(-1), dtype=a.dtype)


def magnitudes(factors: Any) -> list[Any]:
    """What does not depend on signs and phases."""
    return [f.abs() for f in factors]


CALLS: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda a: linalg.cholesky(positive(a)),
    "det": lambda a: linalg.slogdet(a).sign * 0 + linalg.det(a / (8 * max(1, a.size(-1)))),
    "inv": linalg.inv,
    "lu_factor": linalg.lu_factor,
    "qr": lambda a: linalg.qr(a, mode="complete"),
    "slogdet": linalg.slogdet,
    "solve": lambda a: linalg.solve(a, a[..., :2] + 1),
    "solve_triangular": lambda a: linalg.solve_triangular(a.mT, a, upper=True),
    "matrix_exp": lambda a: linalg.matrix_exp(a / (1 + 7 * a.size(-1))),
    "eigh": lambda a: magnitudes(linalg.eigh(a + a.mH)),
    "svd": lambda a: magnitudes(linalg.svd(a)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_against_reference(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    a = regular(shape, dtype)
    check(name, lambda: CALLS[name](a), TOLERANCE[dtype])
    check(name, lambda: CALLS[name](a.mT), TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["lu_factor", "qr", "svd"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (2, 3, 0), (2, 0, 3), (60, 20)], ids=str)
def test_rectangles(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    a, how = random(shape, dtype), {"full_matrices": False} if name == "svd" else {}
    check(name, lambda: magnitudes(getattr(linalg, name)(a, **how)), 20 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_eig(dtype: str, shape: tuple[int, ...]) -> None:
    a = regular(shape, dtype)

    def spectrum() -> list[Any]:
        values, vectors = linalg.eig(a)
        order = values.real.argsort(-1)
        return [values.take_along_dim(order, -1), vectors.take_along_dim(order[..., None, :], -1).abs()]

    check("eig", spectrum, 5 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_of_larger_tensors(dtype: str) -> None:
    a = regular((12, 12), dtype)[2:9, 2:9]
    for name, call in CALLS.items():
        check(name, lambda call=call: call(a), TOLERANCE[dtype])


def test_singular_in_a_batch() -> None:
    x = ad.stack([ad.eye(3), ad.zeros(3, 3)])
    assert linalg.inv_ex(x).info.tolist() == [0, 1]
    assert linalg.det(x).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("lies", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize(
    "shape",
    [
        (4, 4, 4),
        (12, 32, 16),
        (13, 40, 33),
        (5, 100, 64),
        (100, 5, 65),
        (40, 70, 7),
        (110, 33, 130),
        (16, 16, 32),
        (32, 32, 32),
        (33, 31, 24),
        (64, 65, 96),
        (200, 40, 513),
    ],
    ids=str,
)
@pytest.mark.parametrize("batch", [(), (3,), (2, 5)], ids=str)
def test_products_of_bfloat16(batch: tuple[int, ...], shape: tuple[int, int, int], lies: str) -> None:
    """Small integers, whose sums are exact."""
    m, n, k = shape
    a, b = ((random((*batch, *s), "float32") * 3).round() for s in ((m, k), (k, n)))
    exact = (a.double() @ b.double()).to(ad.bfloat16)
    x, y = (
        t.to(ad.bfloat16).mT.contiguous().mT if how == "T" else t.to(ad.bfloat16) for t, how in zip((a, b), lies, strict=True)
    )
    assert (x @ y == exact).all()
    if batch:
        assert (x @ y[(0,) * len(batch)] == (a.double() @ b[(0,) * len(batch)].double()).to(ad.bfloat16)).all()
        assert (x[..., ::2] @ y[..., ::2, :] == (a[..., ::2].double() @ b[..., ::2, :].double()).to(ad.bfloat16)).all()


@pytest.mark.parametrize("dtype", [ad.bfloat16, ad.float16], ids=str)
@pytest.mark.parametrize("lies", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("sizes", [((500, 11, 20), (500, 20, 7)), ((30000, 20), (20, 7)), ((500, 11, 20), (20, 7))], ids=str)
def test_products_of_halves_go_in_parts(sizes: tuple[tuple[int, ...], ...], lies: str, dtype: ad.dtype) -> None:
    """More than are multiplied at a time. Small integers, whose sums are exact."""
    a, b = ((random(s, "float32") * 3).round() for s in sizes)
    exact = (a.double() @ b.double()).to(dtype)
    x, y = (t.to(dtype).mT.contiguous().mT if how == "T" else t.to(dtype) for t, how in zip((a, b), lies, strict=True))
    assert (x @ y == exact).all()


@pytest.mark.parametrize("k", [24, 33, 64])
def test_a_nan_in_a_product_of_bfloat16_stays_in_its_row_and_column(k: int) -> None:
    """What a tile reads beside a row or a column counts as 0, whatever it is."""
    a, b = (random(s, "float32").to(ad.bfloat16) for s in ((70, k), (k, 45)))
    a[3, -1] = a[69, 0] = float("nan")
    b[-1, 7] = float("inf")
    rows, columns = ad.zeros(70, dtype=ad.bool), ad.zeros(45, dtype=ad.bool)
    rows[[3, 69]] = columns[[7]] = True
    assert ((a @ b).isfinite() == ~(rows[:, None] | columns)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "shape",
    [
        (2, 700, 900),
        (3, 701, 901),
        (900, 5, 700),
        (8, 1025, 511),
        (700, 8, 600),
        (1, 900, 1300),
        (900, 1, 1300),
        (1, 1, 3000),
        (2000, 900, 1),
        (1001, 515, 7),
        (9, 17, 1100),
        (3, 37, 2100),
        (14, 5, 1030),
        (6, 11, 9),
        (21, 3, 40),
    ],
    ids=str,
)
def test_products_with_few_rows(shape: tuple[int, int, int], dtype: str) -> None:
    """Small integers, whose sums are exact, by themselves and by their transposes, on one thread and on three."""
    m, n, k = shape
    a, b = ((random(s, dtype).real * 3).round() for s in ((m, k), (k, n)))
    if dtype == "complex64":
        a, b = a + 2j * a.flip(0), b - 1j * b.flip(1)
    wide = ad.complex128 if a.is_complex() else ad.float64
    exact = (a.to(wide) @ b.to(wide)).to(a.dtype)
    for x, y in ((a, b), (a, b.mT.contiguous().mT), (a.mT.contiguous().mT, b)):
        for threads in (1, 3):
            ad.set_num_threads(threads)
            assert (x @ y == exact).all()
    ad.set_num_threads(1)
